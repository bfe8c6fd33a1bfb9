import { connect } from 'node:net'
import { GetObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { forAllTests } from '@svc/devnet/for-tests'
import { expect, it, onTestFinished } from 'vitest'
import { leftovers } from '../http/transfers.ts'
import { expectS3Error, objectsOf, openS3Gateway, signedLines } from './s3-gateway.ts'

const instance = forAllTests(() => openS3Gateway({ S3: 'on,host=s3.example', RATE_LIMITS: 'address=0/min' }))
const bucket = forAllTests(() => instance.bucket())
const { put } = objectsOf(bucket)

const restrict = (lockerId: string, restriction: 'none' | 'frozen' | 'taken_down') =>
  instance.send('PUT', `/v1/internal/operations/lockers/${lockerId}/restriction`, {
    restriction,
    reason: 'a complaint',
  })

it('T-93 the S3 endpoint refuses requests without a signature in the form of S3, and says what is wrong', async () => {
  const response = await fetch(`${instance.s3Url}/${bucket.name}/a`)
  expect(response.status).toBe(403)
  const text = await response.text()
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'application/xml',
    'cache-control': 'no-store',
    'x-amz-request-id': expect.stringMatching(/^req_/),
  })
  expect(text).toMatch(/^<\?xml .*<Error><Code>AccessDenied<\/Code><Message>.+<\/Message><Hint>.+<\/Hint>/s)
  expect(text).toContain(`<Resource>/s3/${bucket.name}/a</Resource>`)
  expect(text).toContain(`<RequestId>${response.headers.get('x-request-id')}</RequestId>`)
})

it('T-93 the S3 endpoint refuses a wrong secret, and answers the same for other lockers whether or not they exist', async () => {
  const other = await instance.bucket()
  await objectsOf(other).put('theirs', 'x')
  const wrong = await bucket.send('GET', 'a', { secret: 'x'.repeat(40) })
  expect([wrong.status, wrong.code]).toEqual([403, 'SignatureDoesNotMatch'])
  const known = await bucket.send('GET', '', { target: `/s3/${other.name}/theirs` })
  const unknown = await bucket.send('GET', '', { target: '/s3/locker_000000000000/theirs' })
  expect([known.status, known.code]).toEqual([403, 'AccessDenied'])
  const withoutIds = ({ text }: { text: string }) => text.replace(/<(Resource|RequestId|HostId)>.*?<\/\1>/g, '')
  expect(withoutIds(known)).toBe(withoutIds(unknown))
})

it('T-93 the S3 endpoint counts bad signatures per address, and past the limit refuses without checking', async () => {
  const limited = await openS3Gateway({ RATE_LIMITS: 'address=3/min' })
  onTestFinished(limited.close)
  const own = await limited.bucket()
  const guess = () => own.send('GET', 'a', { secret: 'guess' })
  for (let i = 0; i < 3; i++) expect((await guess()).code).toBe('SignatureDoesNotMatch')
  const over = await guess()
  expect([over.status, over.code, over.headers.get('retry-after')]).toEqual([503, 'SlowDown', expect.any(String)])
})

it('T-93 a frozen locker is read-only, and one that was taken down cannot be read', async () => {
  const own = await instance.bucket()
  const objects = objectsOf(own)
  await objects.put('a', 'x')
  await restrict(own.name, 'frozen')
  await expectS3Error(objects.put('a', 'y'), 403, 'AccessDenied')
  expect((await objects.bytesOf('a')).toString()).toBe('x')
  await restrict(own.name, 'taken_down')
  await expectS3Error(objects.get('a'), 403, 'AccessDenied')
})

it('T-165 a frozen locker accepts presigned URLs of five minutes at most', async () => {
  const own = await instance.bucket()
  await objectsOf(own).put('a', 'x')
  const get = new GetObjectCommand({ Bucket: own.name, Key: 'a' })
  const list = new ListObjectsV2Command({ Bucket: own.name })
  const statusOf = async (command: typeof get | typeof list, expiresIn: number) => {
    const options = { expiresIn, signingDate: new Date(instance.clock.now()) }
    return (await fetch(await getSignedUrl(own.client, command as typeof get, options))).status
  }
  const statuses = async () => [await statusOf(get, 300), await statusOf(get, 301), await statusOf(list, 86_400)]
  expect(await statuses()).toEqual([200, 200, 200])
  await restrict(own.name, 'frozen')
  expect(await statuses()).toEqual([200, 403, 403])
  await restrict(own.name, 'none')
  expect(await statuses()).toEqual([200, 200, 200])
})

it('T-12 metrics distinguish the S3 operations by names that no caller chooses', async () => {
  await put('measured', 'x')
  await bucket.send('GET', 'measured?acl=')
  await bucket.send('GET', 'measured?torrent=')
  const times = await instance.gateway.context.metrics.routeTimes()
  const routes = times.map(({ method, route }) => `${method} ${route}`)
  for (const route of ['PUT /s3/{bucket}/{key}', 'GET /s3/{bucket}/{key}?acl', 'GET /s3'])
    expect(routes).toContain(route)
})

it('T-93 an empty Expect header is ignored, and an unknown expectation is refused in the form of S3', async () => {
  expect((await bucket.send('PUT', 'expecting', { body: 'x', headers: { expect: '' } })).status).toBe(200)
  const refused = await bucket.send('PUT', 'expecting', { body: 'y', headers: { expect: '200-ok' } })
  expect([refused.status, refused.code]).toEqual([417, 'ExpectationFailed'])
  expect((await bucket.send('GET', 'expecting')).text).toBe('x')
})

it('T-93 keys are the rest of the path exactly as sent, in a valid encoding', async () => {
  await put('slash/key', 'of slash/key')
  expect((await bucket.send('GET', 'slash%2Fkey')).text).toBe('of slash/key')
  for (const path of ['/slash/key', 'slash//key', 'slash/key/', './slash/key', 'x/%2E%2E/slash/key'])
    expect((await bucket.send('GET', path)).code, path).toBe('NoSuchKey')
  for (const path of ['%', '%zz', 'a%C3'])
    expect(await bucket.send('GET', path), path).toMatchObject({ status: 400, code: 'InvalidURI' })
})

it('T-93 the S3 endpoint rejects unknown methods, subresources and path levels', async () => {
  for (const method of ['PATCH', 'POST'])
    expect(await bucket.send(method, 'a')).toMatchObject({ status: 405, code: 'MethodNotAllowed' })
  for (const unknown of [await bucket.send('GET', 'a?torrent='), await bucket.send('PUT', '?policy=')])
    expect(unknown).toMatchObject({ status: 501, code: 'NotImplemented' })
  const unknown = await raw(`PROPFIND /s3/${bucket.name}/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
  expect(unknown).toMatch(/^HTTP\/1\.1 405 .*<Code>MethodNotAllowed</s)
  expect(await raw('GET /s3x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toContain('"error":"not_found"')
})

it('T-93 errors of HEAD have no body', async () => {
  const answer = await bucket.send('HEAD', 'absent')
  expect([answer.status, answer.text, answer.headers.get('x-amz-request-id')]).toEqual([404, '', expect.any(String)])
})

it('T-93 the S3 endpoint requires the length of an object, and refuses one that is too long before it is sent', async () => {
  const target = `/s3/${bucket.name}/long`
  const send = (headers: Record<string, string>, ...more: string[]) =>
    raw(`${signedLines(instance, bucket, 'PUT', target, headers)}${more.join('\r\n')}\r\nconnection: close\r\n\r\n`)
  expect(await send({}, 'transfer-encoding: chunked')).toMatch(/^HTTP\/1\.1 411 .*MissingContentLength/s)
  const tooLong = await send({ 'content-length': '99999999999999' }, 'expect: 100-continue')
  expect(tooLong).toMatch(/^HTTP\/1\.1 400 .*EntityTooLarge/s)
  const unsigned = await raw(`PUT ${target} HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n`)
  expect(unsigned).toMatch(/^HTTP\/1\.1 403 /)
})

it('T-93 the S3 endpoint leaves nothing behind when a client hangs up', async () => {
  const before = await leftovers(instance.gateway)
  const head = signedLines(instance, bucket, 'PUT', `/s3/${bucket.name}/broken`, { 'content-length': '100000' })
  const { hostname, port } = new URL(instance.gateway.url)
  const socket = connect(Number(port), hostname)
  socket.write(`${head}\r\nonly a part`)
  await expect.poll(() => leftovers(instance.gateway)).not.toEqual(before)
  socket.destroy()
  await expect.poll(() => leftovers(instance.gateway)).toEqual(before)
  expect((await bucket.send('GET', 'broken')).code).toBe('NoSuchKey')
})

it.each([
  ['the S3 host', () => 's3.example', () => `/${bucket.name}/hosted%20key`],
  ['a bucket subdomain of it', () => `${bucket.name}.s3.example:8402`, () => '/hosted%20key'],
])('T-93 requests to %s reach the S3 endpoint at any path', async (_, host, target) => {
  await put('hosted key', 'bytes')
  const answer = await raw(
    `${signedLines(instance, bucket, 'GET', target(), { host: host() })}connection: close\r\n\r\n`,
  )
  expect(answer).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\nbytes$/s)
})

it('T-93 pages of other origins may send the headers they ask for, read all headers, and run no scripts', async () => {
  await put('code.js', 'alert(1)')
  const asked = 'authorization,x-amz-date,x-amz-meta-own'
  const origin = 'https://page.example'
  const headers = { origin, 'access-control-request-method': 'PUT', 'access-control-request-headers': asked }
  const preflight = await fetch(`${instance.s3Url}/${bucket.name}/a`, { method: 'OPTIONS', headers })
  expect(preflight.status).toBe(204)
  expect(Object.fromEntries(preflight.headers)).toMatchObject({
    'access-control-allow-origin': '*',
    'access-control-allow-methods': expect.stringContaining('PUT'),
    'access-control-allow-headers': asked,
  })
  const answer = await bucket.send('GET', 'code.js', { headers: { origin } })
  const open = { 'access-control-allow-origin': '*', 'access-control-expose-headers': '*' }
  expect(Object.fromEntries(answer.headers)).toMatchObject(open)
  expect(answer.headers.get('set-cookie')).toBeNull()
  const script = await bucket.send('GET', 'code.js', { headers: { 'sec-fetch-dest': 'script' } })
  expect([script.status, script.code]).toEqual([403, 'AccessDenied'])
})

/** The gateway's answer to these bytes, until the connection ends. */
function raw(text: string): Promise<string> {
  const { hostname, port } = new URL(instance.gateway.url)
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(Number(port), hostname, () => socket.write(text))
    socket.setEncoding('utf8').on('data', (chunk) => {
      answer += chunk
    })
    socket.on('error', reject).on('close', () => resolve(answer))
  })
}
