// A request of the page: from the values of its form to what is sent, and to the same as a curl command.

import { type Document, mediaOf, type Operation, type Parameter } from './document.ts'

export interface FormValues {
  /** By the name of the parameter. */
  parameters: Readonly<Record<string, string>>
  /** JSON text. */
  body: string
  /** Raw bytes, in place of JSON. */
  bytes: Uint8Array | null
  /** A token of the visitor's, where the operation takes one. */
  token: string
  /** Part of the envelope, where neither path, query nor body names it. */
  receiptId: string
}

export interface PreparedRequest {
  method: string
  /** With the query. */
  target: string
  path: string
  headers: Record<string, string>
  body: Uint8Array | string | null
}

/** What a link to this page may fill in: ids to look at, never what a signed request would change. */
const FROM_LINK = ['receipt_id', 'locker_id', 'pay_req_id', 'tx_sig']

/** What the form holds before the visitor changes it. */
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

export function takesToken({ schemes }: Operation): boolean {
  return schemes.some((scheme) => /Token$/.test(scheme))
}

function tokenHeader(schemes: readonly string[], token: string): Record<string, string> {
  return schemes.includes('uploadToken') ? { 'x-upload-token': token } : { authorization: `Bearer ${token}` }
}

/** The address of the gateway as it calls itself: for commands that are used elsewhere. */
export function baseUrlOf(document: Document): string {
  return document.servers[0]?.url ?? location.origin
}

/** A command that does the same in a POSIX shell. */
export function curlCommand(baseUrl: string, { method, target, headers, body }: PreparedRequest): string {
  const first = ['curl', ...methodOption(method, body), quoted(baseUrl + target)].join(' ')
  const data = typeof body === 'string' ? [`-d ${quoted(body)}`] : body ? ['--data-binary @FILE'] : []
  return [first, ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`), ...data].join(
    ' \\\n  ',
  )
}

/** curl sends a GET, or a POST where there is data. */
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
