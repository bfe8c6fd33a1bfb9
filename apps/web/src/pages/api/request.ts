// Turns the values of a form into a request, and into the same request as a curl command.

import { type Document, mediaOf, type Operation, type Parameter } from './document.ts'

export interface FormValues {
  /** The values by parameter name. */
  parameters: Readonly<Record<string, string>>
  /** JSON text. */
  body: string
  /** Raw bytes instead of JSON. */
  bytes: Uint8Array | null
  /** The visitor's token, if the operation needs one. */
  token: string
  /** The receipt in the envelope, if neither path, query nor body names it. */
  receiptId: string
}

export interface PreparedRequest {
  method: string
  /** The path with the query. */
  target: string
  path: string
  headers: Record<string, string>
  body: Uint8Array | string | null
}

/** Fields that a link to this page may fill in: ids to read, never fields that a signed request would change. */
const FROM_LINK = ['receipt_id', 'locker_id', 'pay_req_id', 'tx_sig']

/** The initial values of the form. */
export function initialValues({ parameters, requestBody }: Operation, link: URLSearchParams): FormValues {
  const given = new Map([...link].filter(([name]) => FROM_LINK.includes(name)))
  const preset = (one: Parameter) => given.get(one.name) ?? (one.example === undefined ? '' : textOf(one.example))
  const values = Object.fromEntries(parameters.map((one) => [one.name, preset(one)]))
  const { example, schema } = mediaOf(requestBody?.content)?.[1] ?? {}
  const added = [...given].filter(([name]) => name in (schema?.properties ?? {}))
  return {
    parameters: values,
    body: example ? JSON.stringify({ ...(example as object), ...Object.fromEntries(added) }, null, 2) : '',
    bytes: null,
    token: '',
    receiptId: given.get('receipt_id') ?? '',
  }
}

function textOf(value: unknown): string {
  return Array.isArray(value) ? value.join(',') : String(value)
}

export function prepare(operation: Operation, values: FormValues): PreparedRequest {
  const { method, path: template, parameters, schemes } = operation
  const given = parameters.filter(({ name }) => values.parameters[name])
  const textAt = (name: string) => values.parameters[name] as string
  const path = template.replace(/\{([^}]+)\}/g, (_, name: string) =>
    (values.parameters[name] || name).split('/').map(encodeURIComponent).join('/'),
  )
  const query = given
    .filter((one) => one.in === 'query')
    .flatMap((one) =>
      (isList(one) ? textAt(one.name).split(',') : [textAt(one.name)]).map((value) => [one.name, value]),
    )
  const body = method === 'get' || method === 'head' ? null : (values.bytes ?? (compact(values.body) || null))
  return {
    method: method.toUpperCase(),
    path,
    target: query.length > 0 ? `${path}?${new URLSearchParams(query)}` : path,
    headers: {
      ...(body !== null && { 'content-type': values.bytes ? 'application/octet-stream' : 'application/json' }),
      ...Object.fromEntries(given.filter((one) => one.in === 'header').map(({ name }) => [name, textAt(name)])),
      ...(values.token && tokenHeader(schemes, values.token)),
    },
    body,
  }
}

function isList({ schema }: Parameter): boolean {
  return schema.type === 'array'
}

export function acceptsToken({ schemes }: Operation): boolean {
  return schemes.some((scheme) => /Token$/.test(scheme))
}

function tokenHeader(schemes: readonly string[], token: string): Record<string, string> {
  return schemes.includes('uploadToken') ? { 'x-upload-token': token } : { authorization: `Bearer ${token}` }
}

/** The public address of the gateway, for commands that run elsewhere. */
export function baseUrlOf(document: Document): string {
  return document.servers[0]?.url ?? location.origin
}

/** The same request as a command for a POSIX shell. */
export function curlCommand(baseUrl: string, { method, target, headers, body }: PreparedRequest): string {
  const first = ['curl', ...methodOption(method, body), quoted(baseUrl + target)].join(' ')
  const data = typeof body === 'string' ? [`-d ${quoted(body)}`] : body ? ['--data-binary @FILE'] : []
  return [first, ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`), ...data].join(
    ' \\\n  ',
  )
}

/** The method option, unless it is curl's default: GET, or POST with data. */
function methodOption(method: string, body: unknown): string[] {
  if (method === 'HEAD') return ['-I']
  return method === (body === null ? 'GET' : 'POST') ? [] : ['-X', method]
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Short JSON is easier to read, and to edit in a shell, on one line. */
function compact(body: string): string {
  try {
    const line = JSON.stringify(JSON.parse(body))
    return line.length <= MAX_LINE ? line : body
  } catch {
    return body
  }
}

const MAX_LINE = 100
