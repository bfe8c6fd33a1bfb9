// The claimed signer of a request: the header `Authorization`, or the query of a presigned URL.

import { parseAmzDate, parseHttpDate } from './dates.ts'
import { type S3ErrorCode, s3Error } from './errors.ts'
import type { S3Head } from './head.ts'
import { type PayloadForm, readPayloadForm } from './payload-form.ts'
import { readTarget, type Target } from './target.ts'

/** What a request claims about its signature: checked for form, but not verified. */
export interface Authorization {
  form: 'header' | 'query'
  target: Target
  accessKeyId: string
  scope: { date: string; region: string; service: string }
  signedHeaders: readonly string[]
  signature: string
  /** Unix seconds. */
  requestTime: number
  /** Seconds; null in the header form. */
  expiresIn: number | null
  sessionToken: string | null
  payload: PayloadForm
}

const ALGORITHM = 'AWS4-HMAC-SHA256'
/** A week, as at AWS. */
const MAX_EXPIRES = 604_800
const MAX_TOKEN_LENGTH = 4096

export function readAuthorization(head: S3Head): Authorization {
  const target = readTarget(head.target)
  const header = head.headers.authorization
  const inQuery = target.parameters.some(({ name }) => name === 'X-Amz-Algorithm')
  refuseOldSignatures(target, header)
  if (header !== undefined && inQuery) {
    throw s3Error('InvalidArgument', 'sign with the Authorization header or with the query, not with both')
  }
  if (inQuery) return { target, ...readQueryForm(head, target) }
  if (header !== undefined) return { target, ...readHeaderForm(head, header) }
  throw s3Error('AccessDenied', 'the request is not signed', 'sign the request with an access key of the locker')
}

function refuseOldSignatures({ parameters }: Target, header: string | undefined): void {
  const isOld = header?.startsWith('AWS ') || parameters.some(({ name }) => name === 'AWSAccessKeyId')
  if (isOld) throw unsupported('version 2')
}

function unsupported(name: string) {
  return s3Error(
    'InvalidRequest',
    `signatures of ${name} are not supported; use ${ALGORITHM}`,
    "set the client's signature version to 4 (s3v4)",
  )
}

function requireAlgorithm(name: string, code: S3ErrorCode): void {
  if (name === ALGORITHM) return
  if (name.startsWith('AWS4-ECDSA')) throw unsupported('version 4A')
  throw s3Error(code, `the only signature algorithm is ${ALGORITHM}`)
}

function readHeaderForm({ headers }: S3Head, header: string): Omit<Authorization, 'target'> {
  const code = 'AuthorizationHeaderMalformed'
  const [algorithm = '', ...rest] = header.trim().split(' ')
  requireAlgorithm(algorithm, code)
  const fields = readFields(rest.join(' '))
  const time = headers['x-amz-date'] ?? headers.date
  if (time === undefined) throw s3Error('AccessDenied', 'the request has no x-amz-date or Date header')
  const requestTime = parseAmzDate(String(time)) ?? parseHttpDate(String(time))
  if (requestTime === null) {
    throw s3Error('AccessDenied', 'x-amz-date must have the form 20130524T000000Z, and Date the form of HTTP dates')
  }
  const payload = one(headers['x-amz-content-sha256'])
  if (payload === null) {
    throw s3Error('InvalidRequest', 'missing required header for this request: x-amz-content-sha256')
  }
  return {
    form: 'header',
    ...readCredential(fields.Credential, code),
    signedHeaders: readSignedHeaders(fields.SignedHeaders, code),
    signature: readSignature(fields.Signature, code),
    requestTime,
    expiresIn: null,
    sessionToken: readToken(one(headers['x-amz-security-token'])),
    payload: readPayloadForm(payload),
  }
}

const FIELDS = ['Credential', 'SignedHeaders', 'Signature'] as const

function readFields(text: string): Record<(typeof FIELDS)[number], string> {
  const fields = new Map<string, string>()
  for (const part of text.split(',')) {
    const at = part.indexOf('=')
    fields.set(part.slice(0, Math.max(at, 0)).trim(), part.slice(at + 1).trim())
  }
  const [Credential, SignedHeaders, Signature] = FIELDS.map((name) => fields.get(name))
  if (text.split(',').length !== 3 || !Credential || !SignedHeaders || !Signature) {
    throw s3Error(
      'AuthorizationHeaderMalformed',
      `the header must be: ${ALGORITHM} Credential=…, SignedHeaders=…, Signature=…`,
    )
  }
  return { Credential, SignedHeaders, Signature }
}

function readQueryForm({ headers }: S3Head, { parameters }: Target): Omit<Authorization, 'target'> {
  const code = 'AuthorizationQueryParametersError'
  const values = new Map<string, string>()
  for (const { name, value } of parameters) {
    if (!name.startsWith('X-Amz-')) continue
    if (values.has(name)) throw s3Error(code, `${name} is repeated`)
    values.set(name, value)
  }
  const need = (name: string): string => {
    const value = values.get(name)
    if (value) return value
    throw s3Error(code, `a presigned URL must have ${name}`)
  }
  requireAlgorithm(need('X-Amz-Algorithm'), code)
  const requestTime = parseAmzDate(need('X-Amz-Date'))
  if (requestTime === null) throw s3Error(code, 'X-Amz-Date must have the form 20130524T000000Z')
  const expires = need('X-Amz-Expires')
  const expiresIn = /^\d{1,6}$/.test(expires) ? Number(expires) : 0
  if (expiresIn < 1 || expiresIn > MAX_EXPIRES) {
    throw s3Error(code, `X-Amz-Expires must be a number of seconds from 1 to ${MAX_EXPIRES}, which is a week`)
  }
  const payload = values.get('X-Amz-Content-Sha256') ?? one(headers['x-amz-content-sha256']) ?? 'UNSIGNED-PAYLOAD'
  return {
    form: 'query',
    ...readCredential(need('X-Amz-Credential'), code),
    signedHeaders: readSignedHeaders(need('X-Amz-SignedHeaders'), code),
    signature: readSignature(need('X-Amz-Signature'), code),
    requestTime,
    expiresIn,
    sessionToken: readToken(values.get('X-Amz-Security-Token') ?? one(headers['x-amz-security-token'])),
    payload: readPayloadForm(payload),
  }
}

function readCredential(text: string, code: S3ErrorCode): Pick<Authorization, 'accessKeyId' | 'scope'> {
  const parts = /^([^/\s]{1,256})\/(\d{8})\/([A-Za-z0-9-]{1,64})\/([a-z0-9-]{1,64})\/aws4_request$/.exec(text)
  if (!parts) throw s3Error(code, 'the credential must be <access key id>/<yyyymmdd>/<region>/s3/aws4_request')
  const [, accessKeyId, date, region, service] = parts as unknown as [string, string, string, string, string]
  if (service !== 's3') throw s3Error(code, `the credential is for the service ${service}, not for s3`)
  return { accessKeyId, scope: { date, region, service } }
}

function readSignedHeaders(text: string, code: S3ErrorCode): readonly string[] {
  const names = text.split(';')
  const areNames = names.every((name) => /^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name))
  if (!areNames || new Set(names).size !== names.length) {
    throw s3Error(code, 'the signed headers must be unique names in lower case, separated by ;')
  }
  if (!names.includes('host')) throw s3Error(code, 'the header host must be signed')
  return names
}

function readSignature(text: string, code: S3ErrorCode): string {
  if (/^[0-9a-f]{64}$/.test(text)) return text
  throw s3Error(code, 'a signature must be 64 hex digits in lower case')
}

function readToken(token: string | null): string | null {
  if (token !== null && token.length > MAX_TOKEN_LENGTH) {
    throw s3Error('InvalidToken', `a session token may have at most ${MAX_TOKEN_LENGTH} characters`)
  }
  return token
}

function one(value: string | string[] | undefined): string | null {
  return value === undefined ? null : String(value)
}
