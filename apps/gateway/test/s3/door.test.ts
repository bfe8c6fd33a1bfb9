import { connect } from 'node:net'
import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { leftovers } from '../transfers/transfers.ts'
import { type Bucket, expectS3Error, openS3House, putInHalves, type S3House, signHead } from './s3-house.ts'

let house: S3House
let bucket: Bucket
beforeAll(async () => {
  house = await openS3House({ S3_HOST: 's3.example', RATE_LIMIT_ADDRESS: '0' })
  bucket = await house.bucket()
})
afterAll(() => house.close())

const put = (Key: string, Body = 'x', of = bucket) =>
  of.client.send(new PutObjectCommand({ Bucket: of.name, Key, Body }))

describe('who is let in', () => {
  it('T-96 refuses requests without a signature in the form of S3, and says what is wrong', async () => {
    const response = await fetch(`${house.s3Url}/${bucket.name}/a`)
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

  it('T-96 refuses a wrong secret, and other lockers alike whether or not they exist', async () => {
    const other = await house.bucket()
    await put('theirs', 'x', other)
    const wrong = await bucket.send('GET', 'a', { secret: 'x'.repeat(40) })
    expect([wrong.status, wrong.code]).toEqual([403, 'SignatureDoesNotMatch'])
    const known = await bucket.send('GET', '', { target: `/s3/${other.name}/theirs` })
    const unknown = await bucket.send('GET', '', { target: '/s3/locker_000000000000/theirs' })
    expect([known.status, known.code]).toEqual([403, 'AccessDenied'])
    const withoutIds = ({ text }: { text: string }) => text.replace(/<(Resource|RequestId|HostId)>.*?<\/\1>/g, '')
    expect(withoutIds(known)).toBe(withoutIds(unknown))
  })

  it('T-96 a key that reads does not write, and one for a folder stays in it', async () => {
    await put('folder/a')
    await put('folderless')
    const reader = await bucket.clientWith({}, { access: 'read', prefix: 'folder/' })
    const get = (Key: string) => reader.send(new GetObjectCommand({ Bucket: bucket.name, Key }))
    await get('folder/a')
    await expectS3Error(get('folderless'), 403, 'AccessDenied')
    const write = reader.send(new PutObjectCommand({ Bucket: bucket.name, Key: 'folder/b', Body: 'x' }))
    await expectS3Error(write, 403, 'AccessDenied')
  })

  it('T-96 an end of access ends keys, also of requests under way', async () => {
    const own = await house.bucket()
    await put('a', 'x', own)
    const answer = await putInHalves(house, own.credentials, `/s3/${own.name}/late`, async () => {
      expect((await own.locker.call(['locker:admin'], 'POST', '/revoke')).status).toBe(200)
    })
    expect(answer).toMatchObject({ status: 403, text: expect.stringContaining('AccessDenied') })
    await expectS3Error(put('a', 'y', own), 403, 'AccessDenied')
  })

  it('T-96 counts bad signatures for each address, and then refuses without looking', async () => {
    const limited = await openS3House({ RATE_LIMIT_ADDRESS: '3' })
    try {
      const own = await limited.bucket()
      const guess = () => own.send('GET', 'a', { secret: 'guess' })
      for (let i = 0; i < 3; i++) expect((await guess()).code).toBe('SignatureDoesNotMatch')
      const over = await guess()
      expect([over.status, over.code, over.headers.get('retry-after')]).toEqual([503, 'SlowDown', expect.any(String)])
    } finally {
      await limited.close()
    }
  })

  it('T-96 a frozen locker is read only, and one that is taken down not even that', async () => {
    const own = await house.bucket()
    await put('a', 'x', own)
    const restrict = (restriction: 'frozen' | 'taken_down') =>
      house.gateway.context.database.db
        .updateTable('lockers')
        .set({ restriction })
        .where('locker_id', '=', own.name)
        .execute()
    await restrict('frozen')
    await expectS3Error(put('a', 'y', own), 403, 'AccessDenied')
    const get = () => own.client.send(new GetObjectCommand({ Bucket: own.name, Key: 'a' }))
    expect(await (await get()).Body?.transformToString()).toBe('x')
    await restrict('taken_down')
    await expectS3Error(get(), 403, 'AccessDenied')
  })
})

it('T-110 metrics tell the operations of the door apart, by names that no caller chooses', async () => {
  await put('measured')
  await bucket.send('GET', 'measured?acl=')
  await bucket.send('GET', 'measured?torrent=')
  const times = await house.gateway.rooms.info.metrics.routeTimes()
  const routes = times.map(({ method, route }) => `${method} ${route}`)
  for (const route of ['PUT /s3/{bucket}/{key}', 'GET /s3/{bucket}/{key}?acl', 'GET /s3'])
    expect(routes).toContain(route)
})

it('ADD-58 of a frozen locker a presigned URL is good for five minutes, and longer ones for nothing', async () => {
  const own = await house.bucket()
  await put('a', 'x', own)
  const get = new GetObjectCommand({ Bucket: own.name, Key: 'a' })
  const list = new ListObjectsV2Command({ Bucket: own.name })
  const statusOf = async (command: typeof get | typeof list, expiresIn: number) => {
    const url = await getSignedUrl(own.client, command as typeof get, {
      expiresIn,
      signingDate: new Date(house.clock.now()),
    })
    return (await fetch(url)).status
  }
  const statuses = async () => [await statusOf(get, 300), await statusOf(get, 301), await statusOf(list, 86_400)]
  const restrict = (restriction: 'none' | 'frozen') =>
    house.send('PUT', `/v1/internal/operations/lockers/${own.name}/restriction`, { restriction, reason: 'a complaint' })
  expect(await statuses()).toEqual([200, 200, 200])
  await restrict('frozen')
  expect(await statuses()).toEqual([200, 403, 403])
  await restrict('none')
  expect(await statuses()).toEqual([200, 200, 200])
})

describe('the form of requests', () => {
  it('T-96 an empty Expect header means nothing, and an unknown expectation is refused in the form of S3', async () => {
    expect((await bucket.send('PUT', 'expecting', { body: 'x', headers: { expect: '' } })).status).toBe(200)
    const refused = await bucket.send('PUT', 'expecting', { body: 'y', headers: { expect: '200-ok' } })
    expect([refused.status, refused.code]).toEqual([417, 'ExpectationFailed'])
    expect((await bucket.send('GET', 'expecting')).text).toBe('x')
  })

  it.each(['%', '%zz', '%ff', 'a%C3'])('T-96 refuses the path %s as no encoding', async (path) => {
    const answer = await bucket.send('GET', path)
    expect([answer.status, answer.code]).toEqual([400, 'InvalidURI'])
  })

  it('T-96 keys are the rest of the path exactly as sent', async () => {
    await put('slash/key', 'of slash/key')
    expect((await bucket.send('GET', 'slash%2Fkey')).text).toBe('of slash/key')
    for (const path of [
      '/slash/key',
      'slash//key',
      'slash/key/',
      './slash/key',
      'x/../slash/key',
      'x/%2E%2E/slash/key',
    ]) {
      expect((await bucket.send('GET', path)).code, path).toBe('NoSuchKey')
    }
  })

  it('T-96 answers what it does not know: methods, subresources, levels', async () => {
    const answers = [
      await bucket.send('PATCH', 'a'),
      await bucket.send('POST', 'a'),
      await bucket.send('GET', '', { target: `/s3/${bucket.name}/a?torrent=` }),
      await bucket.send('PUT', '', { target: `/s3/${bucket.name}?policy=` }),
    ]
    expect(answers.map(({ status, code }) => [status, code])).toEqual([
      [405, 'MethodNotAllowed'],
      [405, 'MethodNotAllowed'],
      [501, 'NotImplemented'],
      [501, 'NotImplemented'],
    ])
    const unknown = await raw(`PROPFIND /s3/${bucket.name}/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
    expect(unknown).toMatch(/^HTTP\/1\.1 405 .*<Code>MethodNotAllowed</s)
    expect(await raw('GET /s3x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toContain('"error":"not_found"')
  })

  it('T-96 errors of HEAD have no body', async () => {
    const answer = await bucket.send('HEAD', 'absent')
    expect([answer.status, answer.text, answer.headers.get('x-amz-request-id')]).toEqual([404, '', expect.any(String)])
  })

  it('T-96 needs the length of an object, and refuses one that is too long before it is sent', async () => {
    const sign = (headers: Record<string, string>) =>
      signHead(bucket.credentials, {
        method: 'PUT',
        target: `/s3/${bucket.name}/long`,
        host: 'x',
        headers,
        payload: 'UNSIGNED-PAYLOAD',
        now: house.clock.now(),
      })
    const send = (headers: Record<string, string>, ...more: string[]) =>
      raw(
        [
          `PUT /s3/${bucket.name}/long HTTP/1.1`,
          'host: x',
          ...Object.entries(sign(headers)).map(([name, value]) => `${name}: ${value}`),
          ...more,
          'connection: close',
          '\r\n',
        ].join('\r\n'),
      )
    expect(await send({}, 'transfer-encoding: chunked')).toMatch(/^HTTP\/1\.1 411 .*MissingContentLength/s)
    const tooLong = await send({ 'content-length': '99999999999999' }, 'expect: 100-continue')
    expect(tooLong).toMatch(/^HTTP\/1\.1 400 .*EntityTooLarge/s)
    const unsigned = await raw(
      `PUT /s3/${bucket.name}/long HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n`,
    )
    expect(unsigned).toMatch(/^HTTP\/1\.1 403 /)
  })

  it('T-96 leaves nothing behind when a client hangs up', async () => {
    const before = await leftovers(house.gateway)
    const head = signHead(bucket.credentials, {
      method: 'PUT',
      target: `/s3/${bucket.name}/broken`,
      host: 'x',
      headers: { 'content-length': '100000' },
      payload: 'UNSIGNED-PAYLOAD',
      now: house.clock.now(),
    })
    const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}`)
    const { hostname, port } = new URL(house.gateway.url)
    const socket = connect(Number(port), hostname)
    socket.write([`PUT /s3/${bucket.name}/broken HTTP/1.1`, 'host: x', ...lines, '\r\n'].join('\r\n'))
    socket.write('only a part')
    await expect.poll(() => leftovers(house.gateway)).not.toEqual(before)
    socket.destroy()
    await expect.poll(() => leftovers(house.gateway)).toEqual(before)
    expect((await bucket.send('GET', 'broken')).code).toBe('NoSuchKey')
  })
})

describe('other ways in', () => {
  it.each([
    ['the host of the door', 's3.example', () => `/${bucket.name}/hosted%20key`],
    ['a bucket before it', '', () => '/hosted%20key'],
  ])('T-96 requests to %s are the door’s at any path', async (_, host, target) => {
    await put('hosted key', 'bytes')
    const name = host || `${bucket.name}.s3.example:8402`
    const headers = signHead(bucket.credentials, {
      method: 'GET',
      target: target(),
      host: name,
      headers: {},
      payload: 'UNSIGNED-PAYLOAD',
      now: house.clock.now(),
    })
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
    const answer = await raw(
      [`GET ${target()} HTTP/1.1`, `host: ${name}`, ...lines, 'connection: close', '\r\n'].join('\r\n'),
    )
    expect(answer).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\nbytes$/s)
  })

  it('T-96 pages of other origins may send what they ask for, and read all headers', async () => {
    const preflight = await fetch(`${house.s3Url}/${bucket.name}/a`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://page.example',
        'access-control-request-method': 'PUT',
        'access-control-request-headers': 'authorization,x-amz-date,x-amz-meta-own',
      },
    })
    expect(preflight.status).toBe(204)
    expect(Object.fromEntries(preflight.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': expect.stringContaining('PUT'),
      'access-control-allow-headers': 'authorization,x-amz-date,x-amz-meta-own',
    })
    const answer = await bucket.send('GET', 'hosted%20key', { headers: { origin: 'https://page.example' } })
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-expose-headers': '*',
    })
    expect(answer.headers.get('set-cookie')).toBeNull()
  })

  it('T-96 a file is not served to a page that would run it', async () => {
    await put('code.js', 'alert(1)')
    const answer = await bucket.send('GET', 'code.js', { headers: { 'sec-fetch-dest': 'script' } })
    expect([answer.status, answer.code]).toEqual([403, 'AccessDenied'])
  })

  it('T-96 there is no door where it is switched off', async () => {
    const closed = await openS3House({ S3_DOOR: 'off' })
    try {
      const response = await fetch(`${closed.s3Url}/x`)
      expect([response.status, response.headers.get('content-type')]).toEqual([404, expect.stringContaining('json')])
    } finally {
      await closed.close()
    }
  })
})

describe('what a locker has room for', () => {
  it('T-96 a full locker refuses objects by 403 QuotaExceeded, before they are sent', async () => {
    const full = await openS3House({ ENFORCE_TERMS: 'true' })
    try {
      const own = await full.bucket()
      await full.gateway.context.database.db
        .updateTable('lockers')
        .set({ total_bytes: Number.MAX_SAFE_INTEGER - 10_000 })
        .where('locker_id', '=', own.name)
        .execute()
      const answer = await own.send('PUT', 'a', { body: 'bytes' })
      expect([answer.status, answer.code]).toEqual([403, 'QuotaExceeded'])
      expect(answer.text).toContain('renew the locker')
    } finally {
      await full.close()
    }
  })
})

/** What the gateway answers to these bytes, up to the end of the connection. */
function raw(text: string): Promise<string> {
  const { hostname, port } = new URL(house.gateway.url)
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(Number(port), hostname, () => socket.write(text))
    socket.setEncoding('utf8').on('data', (chunk) => {
      answer += chunk
    })
    socket.on('error', reject).on('close', () => resolve(answer))
  })
}
