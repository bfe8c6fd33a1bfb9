import { describe, expect, it } from 'vitest'
import { readAuthorization } from '../src/authorization.ts'
import type { S3Head } from '../src/head.ts'

const SIGNATURE = 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41'
const CREDENTIAL = 'AKIA1/20130524/us-east-1/s3/aws4_request'

function head(authorization: string | undefined, headers: Record<string, string> = {}): S3Head {
  const given = { host: 'a', 'x-amz-date': '20130524T000000Z', 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD', ...headers }
  return { method: 'GET', target: '/b/k', headers: { ...given, ...(authorization !== undefined && { authorization }) } }
}

function header({
  algorithm = 'AWS4-HMAC-SHA256',
  credential = CREDENTIAL,
  signedHeaders = 'host;x-amz-date',
  signature = SIGNATURE,
  separator = ', ',
} = {}): string {
  const fields = [`Credential=${credential}`, `SignedHeaders=${signedHeaders}`, `Signature=${signature}`]
  return `${algorithm} ${fields.join(separator)}`
}

function presigned(change: Record<string, string | undefined> = {}, rest = ''): S3Head {
  const parameters = {
    'X-Amz-Algorithm': 'AWS4-HMAC-SHA256',
    'X-Amz-Credential': CREDENTIAL,
    'X-Amz-Date': '20130524T000000Z',
    'X-Amz-Expires': '60',
    'X-Amz-SignedHeaders': 'host',
    'X-Amz-Signature': SIGNATURE,
    ...change,
  }
  const pairs = Object.entries(parameters).filter(([, value]) => value !== undefined)
  const query = pairs.map(([name, value]) => `${name}=${encodeURIComponent(value ?? '')}`).join('&')
  return { method: 'GET', target: `/b/k?${query}${rest}`, headers: { host: 'a' } }
}

function codeOf(one: S3Head): string {
  try {
    readAuthorization(one)
    return 'accepted'
  } catch (error) {
    return (error as { code: string }).code
  }
}

describe('the header form', () => {
  it('ADD-41 is read with any space after its commas', () => {
    for (const separator of [',', ', ', ' , ']) {
      expect(readAuthorization(head(header({ separator })))).toEqual({
        form: 'header',
        target: { path: '/b/k', parameters: [] },
        accessKeyId: 'AKIA1',
        scope: { date: '20130524', region: 'us-east-1', service: 's3' },
        signedHeaders: ['host', 'x-amz-date'],
        signature: SIGNATURE,
        requestTime: 1_369_353_600,
        expiresIn: null,
        sessionToken: null,
        payload: { text: 'UNSIGNED-PAYLOAD', kind: 'unsigned' },
      })
    }
  })

  const credentials = ['AKIA1/us-east-1/s3/aws4_request', '/20130524/us-east-1/s3/aws4_request']
  const foreign = ['AKIA1/20130524/us-east-1/iam/aws4_request', `${'A'.repeat(257)}/20130524/us-east-1/s3/aws4_request`]
  it.each([
    ['no fields', ['AWS4-HMAC-SHA256', 'Bearer abc']],
    ['a field missing', [`AWS4-HMAC-SHA256 Credential=${CREDENTIAL}, Signature=${SIGNATURE}`]],
    ['a field twice', [`${header()}, Signature=${SIGNATURE}`]],
    ['another algorithm', [header({ algorithm: 'AWS4-HMAC-SHA512' })]],
    ['an invalid credential', [...credentials, ...foreign].map((credential) => header({ credential }))],
    ['headers twice', ['host;host', 'host;;x-amz-date'].map((signedHeaders) => header({ signedHeaders }))],
    ['host not signed', ['Host', 'x-amz-date'].map((signedHeaders) => header({ signedHeaders }))],
    ['a short signature', [SIGNATURE.slice(2), 'g'.repeat(64)].map((signature) => header({ signature }))],
    ['a signature in upper case', [header({ signature: SIGNATURE.toUpperCase() })]],
  ])('T-93 %s is AuthorizationHeaderMalformed', (_, headers) => {
    for (const authorization of headers)
      expect(codeOf(head(authorization)), authorization).toBe('AuthorizationHeaderMalformed')
  })

  it.each([
    ['20130524', 'AccessDenied'],
    ['20130231T000000Z', 'AccessDenied'],
    ['20130524T000000Z, 20130525T000000Z', 'AccessDenied'],
    ['00000524T000000Z', 'AccessDenied'],
    ['Fri, 24 May 2013 00:00:00 GMT', 'accepted'],
    ['Fri, 24 May 2013 00:00:00 PST', 'AccessDenied'],
  ])('T-93 the time %s is %s', (time, code) => {
    expect(codeOf(head(header(), { 'x-amz-date': time }))).toBe(code)
  })
})

describe('the query form', () => {
  it('ADD-41 is read from a presigned URL', () => {
    expect(readAuthorization(presigned())).toMatchObject({ form: 'query', accessKeyId: 'AKIA1', expiresIn: 60 })
  })

  it.each([
    ['X-Amz-Credential', [undefined, 'AKIA1']],
    ['X-Amz-Date', [undefined, '2013']],
    ['X-Amz-Expires', [undefined, '0', '-1', '604801', '1e3', '0x10']],
    ['X-Amz-SignedHeaders', ['x-amz-date']],
    ['X-Amz-Signature', ['']],
    ['X-Amz-Algorithm', ['none']],
  ])('T-93 a wrong or repeated %s is AuthorizationQueryParametersError', (name, values) => {
    const twice = ['&X-Amz-Expires=600000', '&X%2DAmz-Expires=600000'].map((rest) => presigned({}, rest))
    for (const one of [...values.map((value) => presigned({ [name]: value })), ...twice])
      expect(codeOf(one), one.target).toBe('AuthorizationQueryParametersError')
  })

  it('T-93 a query that is not UTF-8 is rejected', () => {
    for (const rest of ['&a=%ff', '&a=%', '&%zz']) expect(codeOf(presigned({}, rest))).toBe('InvalidURI')
  })
})

describe('other ways to sign', () => {
  it('T-93 a missing or second signature and a very long session token are rejected', () => {
    expect(codeOf(head(undefined))).toBe('AccessDenied')
    expect(codeOf({ ...presigned(), headers: head(header()).headers })).toBe('InvalidArgument')
    expect(codeOf(head(header(), { 'x-amz-security-token': 'a'.repeat(4097) }))).toBe('InvalidToken')
  })

  it('T-93 signatures of version 2 and 4A are rejected by name', () => {
    const old = [head('AWS AKIA1:c2ln'), { ...head(undefined), target: '/b/k?AWSAccessKeyId=A&Expires=1&Signature=s' }]
    for (const one of old) expect(() => readAuthorization(one)).toThrow('version 2')
    const ecdsa = 'AWS4-ECDSA-P256-SHA256'
    for (const one of [head(header({ algorithm: ecdsa })), presigned({ 'X-Amz-Algorithm': ecdsa })]) {
      expect(() => readAuthorization(one)).toThrow('version 4A')
    }
  })
})

describe('the payload form', () => {
  const read = (text: string) => readAuthorization(head(header(), { 'x-amz-content-sha256': text })).payload

  it('ADD-41 all forms of x-amz-content-sha256 are read', () => {
    const hash = 'AB'.repeat(32)
    expect(read(hash)).toEqual({ text: hash, kind: 'hashed', sha256: hash.toLowerCase() })
    expect(read('STREAMING-AWS4-HMAC-SHA256-PAYLOAD')).toMatchObject({ isSigned: true, hasTrailer: false })
    expect(read('STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER')).toMatchObject({ isSigned: true, hasTrailer: true })
    expect(read('STREAMING-UNSIGNED-PAYLOAD-TRAILER')).toMatchObject({ isSigned: false, hasTrailer: true })
  })

  it.each([
    ['', 'InvalidArgument'],
    ['unsigned-payload', 'InvalidArgument'],
    ['ab'.repeat(31), 'InvalidArgument'],
    ['STREAMING-UNSIGNED-PAYLOAD', 'InvalidArgument'],
    ['UNSIGNED-PAYLOAD, UNSIGNED-PAYLOAD', 'InvalidArgument'],
    ['STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD', 'NotImplemented'],
    ['STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER', 'NotImplemented'],
  ])('T-93 "%s" is %s', (text, code) => {
    expect(codeOf(head(header(), { 'x-amz-content-sha256': text }))).toBe(code)
  })

  it('T-93 a signed request without it is rejected', () => {
    const { 'x-amz-content-sha256': _, ...headers } = head(header()).headers
    expect(codeOf({ ...head(header()), headers })).toBe('InvalidRequest')
  })
})
