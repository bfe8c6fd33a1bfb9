import { createHash } from 'node:crypto'
import { problemWith } from '@svc/devnet/properties/made-up-input'
import { accepted, json, must, mustEqual } from '@svc/devnet/properties/rules'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readAuthorization } from '../src/authorization.ts'
import { S3Error } from '../src/errors.ts'
import type { S3Head } from '../src/head.ts'
import { readTarget } from '../src/target.ts'
import { ACCESS_KEY_ID, check, DATE, NOW, presign, SCOPE, sign } from './signing.ts'

const EMPTY = createHash('sha256').digest('hex')
const HOST = 'examplebucket.s3.amazonaws.com'

function example(head: Partial<S3Head>, signature: string): S3Head {
  const headers = { host: HOST, 'x-amz-content-sha256': EMPTY, 'x-amz-date': DATE, ...head.headers }
  const names = Object.keys(headers).sort().join(';')
  const authorization = `AWS4-HMAC-SHA256 Credential=${ACCESS_KEY_ID}/${SCOPE},SignedHeaders=${names},Signature=${signature}`
  return { method: 'GET', target: '/', ...head, headers: { ...headers, authorization } }
}

const PRESIGNED = `/test.txt?X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential=${ACCESS_KEY_ID}%2F20130524%2Fus-east-1%2Fs3%2Faws4_request&X-Amz-Date=${DATE}&X-Amz-Expires=86400&X-Amz-SignedHeaders=host&X-Amz-Signature=aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404`
const PRESIGNED_HEAD: S3Head = { method: 'GET', target: PRESIGNED, headers: { host: HOST } }

describe("the examples in AWS's documentation", () => {
  const put = {
    date: 'Fri, 24 May 2013 00:00:00 GMT',
    'x-amz-storage-class': 'REDUCED_REDUNDANCY',
    'x-amz-content-sha256': createHash('sha256').update('Welcome to Amazon S3.').digest('hex'),
  }
  it.each<[string, S3Head]>([
    [
      'GET of an object with a range',
      example(
        { target: '/test.txt', headers: { range: 'bytes=0-9' } },
        'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
      ),
    ],
    [
      'PUT of an object',
      example(
        { method: 'PUT', target: '/test%24file.text', headers: put },
        '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
      ),
    ],
    [
      'a subresource without a value',
      example({ target: '/?lifecycle' }, 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543'),
    ],
    [
      'a list, with a query in another order',
      example({ target: '/?prefix=J&max-keys=2' }, '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7'),
    ],
    ['a presigned URL', PRESIGNED_HEAD],
  ])('T-93 ADD-41 %s', (_, head) => {
    expect(check(head).authorization.accessKeyId).toBe(ACCESS_KEY_ID)
  })
})

const segment = fc.string({ unit: 'grapheme', maxLength: 12 })
// Some characters stay unchanged, and are signed unchanged.
const requests = fc.record({
  method: fc.constantFrom('GET', 'PUT', 'POST', 'DELETE', 'HEAD'),
  path: fc
    .array(segment, { minLength: 1, maxLength: 5 })
    .map((segments) => `/${segments.map((text) => encodeURIComponent(text.toWellFormed())).join('/')}`),
  query: fc.dictionary(
    segment.map((name) => `q${name}`),
    fc.oneof(segment, fc.array(segment, { minLength: 1, maxLength: 3 })),
    { maxKeys: 5 },
  ),
  headers: fc.dictionary(
    fc.stringMatching(/^(x-amz-meta-|content-)[a-z]{1,8}$/),
    fc.string({ unit: fc.constantFrom(...'aZ09 ,;=/é漢') }),
    { maxKeys: 5, noNullPrototype: true },
  ),
  region: fc.constantFrom('us-east-1', 'auto', 'eu-central-1'),
  time: fc.integer({ min: NOW - 900, max: NOW + 900 }),
})

describe('any request that the SDK signs', () => {
  it('T-93 ADD-41 is accepted with its signature in the header', async () => {
    await fc.assert(
      fc.asyncProperty(requests, async (request) => {
        const head = await sign(request)
        expect(check(head).authorization).toMatchObject({ form: 'header', requestTime: request.time })
      }),
    )
  })

  it('T-93 ADD-41 is accepted with its signature in the query, and its headers from there', async () => {
    await fc.assert(
      fc.asyncProperty(requests, async (request) => {
        const { authorization, headers } = check(await presign(request))
        expect(authorization).toMatchObject({ form: 'query', expiresIn: 3600, payload: { kind: 'unsigned' } })
        for (const [name, value] of Object.entries(request.headers)) {
          expect(headers[name]).toBe(Buffer.from(value).toString('latin1'))
        }
      }),
    )
  })

  it('T-93 is rejected with any changed byte of its target, headers or method', async () => {
    const head = await sign({
      method: 'PUT',
      path: '/bucket/a%20b',
      query: { partNumber: '1', uploadId: 'x y' },
      headers: { 'x-amz-meta-a': 'one two' },
    })
    await fc.assert(
      fc.property(fc.integer({ min: 0, max: head.target.length - 1 }), fc.constantFrom(...'Zz09~'), (at, char) => {
        const target = head.target.slice(0, at) + char + head.target.slice(at + 1)
        fc.pre(target !== head.target && !/%(?![0-9A-Fa-f]{2})/.test(target) && target.startsWith('/'))
        expect(() => check({ ...head, target })).toThrow(/signature does not match|UTF-8/)
      }),
    )
    const changed: Partial<S3Head>[] = [
      { method: 'POST' },
      ...['one  twO', 'onetwo', ''].map((value) => ({ headers: { ...head.headers, 'x-amz-meta-a': value } })),
      { headers: { ...head.headers, host: 'other.example' } },
      { target: head.target.replace('?', '?acl&') },
      { target: head.target.replace('&uploadId=x%20y', '') },
      { target: head.target.replace('/bucket/', '/bucket//') },
      { target: head.target.replace('/bucket/', '/other/../bucket/') },
    ]
    for (const change of changed) {
      expect(() => check({ ...head, ...change })).toThrow(expect.objectContaining({ code: 'SignatureDoesNotMatch' }))
    }
  })
})

describe('spellings of one request', () => {
  it('T-93 paths are signed as sent: nothing is encoded twice, and // and .. stay', async () => {
    const paths = ['/bucket//a', '/bucket/a/../b', '/bucket/./a', '/bucket/%252F', "/bucket/a(1)!'*", '/bucket/a%20b']
    for (const path of paths) expect(check(await sign({ path }))).toBeTruthy()
  })

  it('T-93 a target that was signed in full encoding may be sent in another encoding', async () => {
    const head = await sign({ path: '/bucket/a%281%29%C3%A9', query: { prefix: 'a (1)é', 'x-id': 'GetObject' } })
    const target = '/bucket/a(1)%c3%a9?x-id=GetObject&prefix=a+(1)%c3%a9'
    expect(check({ ...head, target })).toBeTruthy()
    expect(check({ ...head, target: `http://${HOST}${target}` })).toBeTruthy()
  })

  it('T-93 repeated headers are signed with a comma; spaces inside and around values count once', async () => {
    const repeated = await sign({ headers: { 'x-amz-meta-a': 'one,two' } })
    expect(check({ ...repeated, headers: { ...repeated.headers, 'x-amz-meta-a': 'one, two' } })).toBeTruthy()
    const spaced = await sign({ headers: { 'x-amz-meta-a': 'one two, three' } })
    expect(check({ ...spaced, headers: { ...spaced.headers, 'x-amz-meta-a': ' one \t two,  three ' } })).toBeTruthy()
  })
})

describe('times', () => {
  const code = (run: () => unknown) => {
    try {
      run()
      return 'accepted'
    } catch (error) {
      return (error as { code: string }).code
    }
  }

  it('T-93 a clock may be off by a quarter of an hour', async () => {
    const head = await sign({})
    const codes = [-901, -900, 900, 901].map((offset) => code(() => check(head, NOW + offset)))
    expect(codes).toEqual(['RequestTimeTooSkewed', 'accepted', 'accepted', 'RequestTimeTooSkewed'])
  })

  it('T-93 a presigned URL is valid from its time until it expires', () => {
    const codes = [-901, -900, 86_400, 86_401].map((offset) => code(() => check(PRESIGNED_HEAD, NOW + offset)))
    expect(codes).toEqual(['AccessDenied', 'accepted', 'accepted', 'AccessDenied'])
    expect(() => check(PRESIGNED_HEAD, NOW + 86_401)).toThrow('Request has expired')
    const longer = PRESIGNED.replace('X-Amz-Expires=86400', 'X-Amz-Expires=86401')
    expect(code(() => check({ ...PRESIGNED_HEAD, target: longer }))).toBe('SignatureDoesNotMatch')
  })

  it('T-93 the date of the credential must be the date of the request', async () => {
    const head = await sign({})
    const later = { ...head, headers: { ...head.headers, 'x-amz-date': '20130525T000000Z' } }
    expect(code(() => check(later, NOW + 86_400))).toBe('AuthorizationHeaderMalformed')
    const target = PRESIGNED.replace('%2F20130524%2F', '%2F20130523%2F')
    expect(code(() => check({ ...PRESIGNED_HEAD, target }))).toBe('AuthorizationQueryParametersError')
  })

  it('T-93 the header Date is read when x-amz-date is missing', () => {
    const head = example({}, '0'.repeat(64))
    const { 'x-amz-date': _, ...headers } = head.headers
    const dated = { ...head, headers: { ...headers, date: 'Fri, 24 May 2013 00:00:00 GMT' } }
    expect(readAuthorization(dated).requestTime).toBe(NOW)
  })
})

describe('the required coverage of a signature', () => {
  it('T-93 every x-amz- header must be signed, even with a presigned URL', async () => {
    const head = await sign({})
    for (const one of [head, PRESIGNED_HEAD]) {
      expect(() => check({ ...one, headers: { ...one.headers, 'x-amz-copy-source': '/other/key' } })).toThrow(
        'headers present in the request which were not signed',
      )
    }
  })

  it('T-93 another secret, and a header named like an object property, are rejected', async () => {
    const head = await sign({})
    expect(() => check(head, NOW, 'another secret')).toThrow(expect.objectContaining({ code: 'SignatureDoesNotMatch' }))
    const authorization = String(head.headers.authorization).replace('SignedHeaders=', 'SignedHeaders=constructor;')
    const odd = { ...head, headers: { ...head.headers, authorization } }
    expect(() => check(odd)).toThrow(expect.objectContaining({ code: 'SignatureDoesNotMatch' }))
  })

  it('T-93 a session token comes with the header or the query, and is signed', async () => {
    const inHeader = await sign({ sessionToken: 'to/ken+=' })
    const inQuery = await presign({ sessionToken: 'to/ken+=' })
    for (const head of [inHeader, inQuery]) expect(check(head).authorization.sessionToken).toBe('to/ken+=')
    const changed = { ...inHeader, headers: { ...inHeader.headers, 'x-amz-security-token': 'other' } }
    expect(() => check(changed)).toThrow(expect.objectContaining({ code: 'SignatureDoesNotMatch' }))
  })
})

it('T-129 T-52 no made-up input breaks the rules of S3 signatures', async () => {
  const get = { path: '/bucket/a%20b.txt' }
  const list = { path: '/bucket', query: { 'list-type': '2', prefix: 'a/é', delimiter: '' } }
  const put = { ...get, method: 'PUT', headers: { 'x-amz-meta-a': 'one  two', 'content-type': 'text/plain' } }
  const genuine = await Promise.all([sign(get), sign(list), sign(put), presign(get), presign(list)])
  const names = 'authorization x-amz-date date x-amz-content-sha256 host x-amz-security-token constructor __proto__'
  const values = 'UNSIGNED-PAYLOAD AWS4-HMAC-SHA256 AWS4-ECDSA-P256-SHA256 Credential= /aws4_request 604801 http://h'
  const targets = '; , = & ? % %2F + X-Amz-Algorithm= X-Amz-Expires'
  expect(
    await problemWith({
      examples: genuine.map((head) => JSON.stringify(head)),
      words: [...[names, values, targets].flatMap((texts) => texts.split(' ')), ACCESS_KEY_ID, 'AWS '],
      isJson: true,
      rule(input) {
        const head = headIn(json(input))
        const signed = head && accepted(S3Error, () => check(head))
        if (!head || !signed) return
        const { signedHeaders } = signed.authorization
        const isGenuine = genuine.some((one) => meaningOf(one, signedHeaders) === meaningOf(head, signedHeaders))
        must(isGenuine, 'accepts a request that was not signed')
        mustEqual(Object.getPrototypeOf(signed.headers), null, 'headers have a prototype')
      },
    }),
  ).toBeNull()
})

function headIn(value: unknown): S3Head | null {
  const { method, target, headers } = { ...(value as Partial<S3Head> | null | undefined) }
  const isHead =
    typeof method === 'string' && typeof target === 'string' && typeof headers === 'object' && headers !== null
  if (!isHead || !Object.values(headers).every((header) => typeof header === 'string')) return null
  // Node's parser makes a character of each byte.
  if (/[^\0-\xff]/.test(target)) return null
  return { method, target, headers }
}

/** Everything that a signature protects, in one spelling. */
function meaningOf({ method, target, headers }: S3Head, signedHeaders: readonly string[]): string {
  const { path, parameters } = readTarget(target)
  const values = signedHeaders.map((name) => [
    name,
    String(headers[name] ?? '')
      .replace(/\s+/g, ' ')
      .replaceAll(', ', ',')
      .trim(),
  ])
  const query = parameters.map(({ name, value }) => `${name}=${value}`).sort()
  return JSON.stringify([method, decodeURIComponent(path), query, values])
}
