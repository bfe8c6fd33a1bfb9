// The proxies of deploy/, one after the other at the same address, in front of one gateway: everything works through
// them, they store nothing on disk, and their logs contain nothing that opens a file.

import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { connect as connectHttp2 } from 'node:http2'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { GetObjectCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { Upload as S3Upload } from '@aws-sdk/lib-storage'
import { getSignedUrl } from '@aws-sdk/s3-request-presigner'
import type { TusToken } from '@svc/api/tus'
import { DEV_PAYERS } from '@svc/devnet/evm-chain/dev-accounts'
import { freePort } from '@svc/devnet/free-port'
import { type LocalChains, startLocalChains } from '@svc/devnet/local-chains'
import { DEMO_PAYERS } from '@svc/devnet/primary-chain/dev-accounts'
import { startTestGateway } from '@svc/devnet/services/gateway'
import { ed25519Identity } from '@svc/devnet/services/signing'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { evm, Mppx } from 'mppx/client'
import { Upload as TusUpload } from 'tus-js-client'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { isCaddyInstalled, startCaddy } from './caddy.ts'
import { gatewayRequests, type Locker } from './gateway-requests.ts'
import { startComposeNginx, startNginx } from './nginx.ts'
import type { RunningProxy } from './proxy.ts'

const MB = 1_000_000
const owner = ed25519Identity(DEMO_PAYERS[2]!.privateKeyBytes)
const account = privateKeyToAccount(DEV_PAYERS[1]!.privateKey)
const sha256 = (bytes: Uint8Array) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** Each starts with the port of a gateway and its own port. */
const PROXIES: Record<string, (gateway: number, port: number) => Promise<RunningProxy>> = {
  'nginx/svc.conf': (gateway, port) => startNginx({ replicas: [gateway], port }),
  'compose/nginx.conf': startComposeNginx,
  'caddy/Caddyfile': startCaddy,
}
const proxies = Object.entries(PROXIES).map(([file, start]) => ({ file, start }))
const canRun = (file: string) => isCaddyInstalled || !file.startsWith('caddy')

let chains: LocalChains
let port: number
let gatewayPort: number
let locker: Locker
let requests: ReturnType<typeof gatewayRequests>
const closing: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  chains = await startLocalChains()
  port = await freePort()
  const gateway = await startTestGateway({
    ...chains.variables,
    BASE_URL: `http://127.0.0.1:${port}`,
    TRUSTED_PROXIES: '127.0.0.1',
  })
  closing.push(gateway.stop, chains.stop)
  gatewayPort = Number(new URL(gateway.url).port)
  const chainUrls = { primaryChain: chains.primary.url, evmChain: chains.evm.url }
  const direct = gatewayRequests({ gateway: gateway.url, ...chainUrls })
  locker = await direct.buyLocker(owner, 'SOL', 'primary-mainnet', 2)
  requests = gatewayRequests({ gateway: `http://127.0.0.1:${port}`, ...chainUrls })
})
afterAll(async () => {
  for (const close of closing) await close()
})

const post = (path: string, body: object, op: string) =>
  requests.call(owner, { ...locker, method: 'POST', path: `/v1/lockers/${locker.lockerId}${path}`, body, ops: [op] })
const link = (filename: string) => `/v1/r/${locker.receiptId}/f/${filename}`

/** Sends a request with its path unchanged. */
async function send(options: RequestOptions): Promise<IncomingMessage> {
  const request = httpRequest({ host: '127.0.0.1', port, agent: false, ...options })
  const [response] = await once(request.end(), 'response')
  return response
}

for (const { file, start } of proxies) {
  describe.skipIf(!canRun(file))(file, () => {
    let proxy: RunningProxy
    beforeAll(async () => {
      proxy = await start(gatewayPort, port)
    })
    afterAll(() => proxy.stop())

    const order = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"units":1}' }

    it('ADD-34 a locker is bought by quote, payment and confirmation', async () => {
      expect((await requests.send('POST', '/v1/storage/request', { units: 1 })).status).toBe(402)
      const bought = await requests.buyLocker(owner, 'SOL', 'primary-mainnet', 2)
      expect(bought.lockerId).not.toBe(locker.lockerId)
    })

    it('ADD-34 a stock x402 client buys', async () => {
      const client = new x402Client().register('eip155:143', new ExactEvmScheme(account))
      const response = await wrapFetchWithPayment(fetch, client)(`${proxy.url}/v1/x402/storage`, order)
      expect([response.status, await response.json()]).toMatchObject([200, { ok: true, pay_asset: 'USDC' }])
    })

    it('ADD-34 ADD-47 a stock client of the Machine Payments Protocol buys', async () => {
      const method = evm.charge({ account, authorization: { name: 'USDC', version: '2' }, networks: [143] })
      const client = Mppx.create({ methods: [method], polyfill: false })
      const response = await client.fetch(`${proxy.url}/v1/storage/request`, order)
      expect([response.status, await response.json()]).toMatchObject([200, { receipt: { pay_asset: 'USDC' } }])
    })

    it('ADD-34 a stock S3 client stores an object, in one request and in parts, and its signed URLs work', {
      tags: ['nightly'],
    }, async () => {
      const given = (await post('/s3/credentials', { access: 'write' }, 'locker:write')) as Record<string, string>
      const client = new S3Client({
        endpoint: `${proxy.url}/s3`,
        region: 'us-east-1',
        forcePathStyle: true,
        maxAttempts: 1,
        credentials: {
          accessKeyId: given.access_key_id!,
          secretAccessKey: given.secret_access_key!,
          sessionToken: given.session_token!,
        },
      })
      const Bucket = locker.lockerId
      await client.send(new PutObjectCommand({ Bucket, Key: 'small', Body: 'small' }))
      const bytes = randomBytes(12 * MB)
      await new S3Upload({ client, params: { Bucket, Key: 'parts', Body: bytes } }).done()
      const read = await client.send(new GetObjectCommand({ Bucket, Key: 'parts', Range: 'bytes=7000000-7000099' }))
      expect(Buffer.from(await read.Body!.transformToByteArray())).toEqual(bytes.subarray(7 * MB, 7 * MB + 100))
      const signed = await getSignedUrl(client, new GetObjectCommand({ Bucket, Key: 'small' }))
      expect(await (await fetch(signed)).text()).toBe('small')
      expect(await proxy.logs()).not.toContain(new URL(signed).searchParams.get('X-Amz-Signature'))
    })

    it('ADD-34 T-98 the bytes of an interrupted tus upload are kept, and a stock client resumes after them', {
      tags: ['nightly'],
    }, async () => {
      const bytes = randomBytes(40 * MB)
      const { headers, tus_endpoint } = (await post('/tus/tokens', {}, 'locker:write')) as TusToken
      const metadata = `filename ${Buffer.from('cut').toString('base64')}`
      const creation = { 'tus-resumable': '1.0.0', 'upload-length': `${bytes.length}`, 'upload-metadata': metadata }
      const created = await fetch(tus_endpoint, { method: 'POST', headers: { ...headers, ...creation } })
      const uploadUrl = created.headers.get('location') as string
      // The part exceeds all socket buffers on the way, so that the gateway has some of it.
      await patchAndCut(uploadUrl, bytes.length, bytes.subarray(0, 32 * MB))
      const offset = async () => {
        const head = await fetch(uploadUrl, { method: 'HEAD', headers: { 'tus-resumable': '1.0.0' } })
        return Number(head.headers.get('upload-offset'))
      }
      await expect.poll(offset).toBeGreaterThan(0)
      const resumedAt: number[] = []
      await new Promise<void>((resolve, reject) => {
        const upload = new TusUpload(bytes, {
          uploadUrl,
          onAfterResponse: (request, response) => {
            if (request.getMethod() === 'HEAD') resumedAt.push(Number(response.getHeader('Upload-Offset')))
          },
          onSuccess: () => resolve(),
          onError: reject,
        })
        upload.start()
      })
      expect(resumedAt).toEqual([expect.toSatisfy((offset) => offset > 0 && offset <= 32 * MB)])
      // The client reads slowly: nginx would write what does not fit into its sockets to disk.
      const slow = await send({ path: link('cut') })
      for (let i = 0; i < 20; i++) expect((await fetch(`${proxy.url}/health/live`)).status).toBe(200)
      expect(sha256(Buffer.concat(await slow.toArray()))).toBe(sha256(bytes))
      expect(await proxy.logs()).not.toContain(uploadUrl.split('/').at(-1))
    })

    it('ADD-34 a file is stored through an upload session and read in ranges', async () => {
      const bytes = randomBytes(4 * MB)
      const files = [{ filename: 'session', content_type: 'application/octet-stream' }]
      const opened = await post('/upload-sessions', { files }, 'locker:write')
      const {
        session_id,
        upload_token,
        files: [file],
      } = opened as {
        session_id: string
        upload_token: string
        files: [{ file_id: string }]
      }
      const sessionUrl = `${proxy.url}/v1/upload-sessions/${session_id}`
      const token = { 'x-upload-token': upload_token }
      for (const index of [0, 1]) {
        const part = `${sessionUrl}/files/${file.file_id}/parts?index=${index}`
        const body = bytes.subarray(index * 2 * MB, (index + 1) * 2 * MB)
        const headers = { ...token, 'content-type': 'application/octet-stream' }
        expect((await fetch(part, { method: 'POST', headers, body })).status).toBe(200)
      }
      const finalized = await fetch(`${sessionUrl}/finalize`, { method: 'POST', headers: token })
      expect(await finalized.json()).toMatchObject({ status: 'complete', files: [{ content_hash: sha256(bytes) }] })
      const range = await fetch(proxy.url + link('session'), { headers: { range: 'bytes=1500000-2499999' } })
      expect(range.status).toBe(206)
      expect(Buffer.from(await range.arrayBuffer())).toEqual(bytes.subarray(1.5 * MB, 2.5 * MB))
      const logs = await proxy.logs()
      for (const secret of [session_id, upload_token, locker.receiptId]) expect(logs).not.toContain(secret)
    })

    it('ADD-34 T-11 the gateway stops an endless anonymous body, and the proxy stores none of it', async () => {
      const socket = connect(port, '127.0.0.1')
      onTestFinished(() => void socket.destroy())
      // The gateway may close the connection while more bytes are on their way.
      socket.on('error', () => {})
      socket.write(`POST /v1/storage/request HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`)
      socket.write('Content-Type: application/json\r\nContent-Length: 9000000000\r\n\r\n')
      const chunk = Buffer.alloc(MB, ' ')
      const more = () => void (socket.writable && socket.write(chunk, more))
      more()
      const [answer] = await once(socket.setEncoding('utf8'), 'data')
      expect(answer).toMatch(/^HTTP\/1\.1 413 /)
    })

    it('ADD-34 metrics are not exposed by any spelling of their path', async () => {
      const direct = await send({ port: gatewayPort, path: '/metrics' })
      expect(await text(direct)).toContain('svc_')
      const paths = ['/metrics', '/metrics?a=b', '/metrics/', '/%6Detrics', '//metrics', '/./metrics', '/a/../metrics']
      for (const path of paths) {
        const response = await send({ path })
        const body = await text(response)
        expect([response.statusCode, body.includes('svc_')], path).toEqual([404, false])
      }
      for (const method of ['HEAD', 'POST']) expect((await send({ method, path: '/metrics' })).statusCode).toBe(404)
    })
  })
}

const MARK = 'opens-a-file'
/** Requests with a secret that opens something. */
const CAPABILITIES = [
  `/f/${MARK}`,
  `/v1/r/${MARK}/f/name`,
  `/v1/tus/${MARK}`,
  `/s3/bucket/key?X-Amz-Signature=${MARK}`,
  `/v1/storage/statements?receipt_id=${MARK}`,
  `/s/${MARK}`,
  `/v1/shares/${MARK}/f/name`,
  `/view/${MARK}`,
  `/v1/receipts/${MARK}`,
  `/v1/upload-sessions/${MARK}/finalize`,
].map((path) => ({ path, headers: { referer: `https://gateway.example/view/${MARK}` } }))

for (const { file, start } of proxies) {
  describe.skipIf(!canRun(file))(`the logs of ${file}`, () => {
    it('T-12 contain nothing that opens a file, even when gateways fail and clients disconnect', {
      tags: ['nightly'],
    }, async () => {
      const gateway = await startFailingGateway()
      onTestFinished(() => void gateway.close())
      const proxy = await start((gateway.address() as AddressInfo).port, port)
      onTestFinished(proxy.stop)
      const askFor = (failure: Failure) =>
        CAPABILITIES.map(({ path, headers }) =>
          // A POST, since Caddy repeats a GET.
          send({ method: 'POST', path, headers: { ...headers, 'x-failure': failure } }).then(
            async (response) => [response.statusCode, await text(response).catch(() => 'cut')],
            () => null,
          ),
        )
      await Promise.all([...askFor('closes'), ...askFor('garbage'), ...askFor('half'), ...askFor('long head')])
      for (const method of ['GET', 'PUT']) for (const given of CAPABILITIES) await leave(gateway, method, given)
      gateway.close()
      await Promise.all(askFor('closes'))
      expect(await proxy.logs()).not.toContain(MARK)
    })
  })
}

describe('the logs of nginx', () => {
  it.each(proxies.filter(({ file }) => file.includes('nginx')))(
    'T-12 record the outcome of each request through $file',
    async ({ start }) => {
      const proxy = await start(gatewayPort, port)
      onTestFinished(proxy.stop)
      const answered = await fetch(`${proxy.url}/v1/keys`)
      await answered.text()
      const line = new RegExp(
        `^127\\.0\\.0\\.1 .* GET .* 200 .*127\\.0\\.0\\.1:${gatewayPort} .*${answered.headers.get('x-request-id')}`,
        'm',
      )
      await expect.poll(proxy.logs).toMatch(line)
    },
  )

  it('T-12 contain no secrets of requests over HTTP/2 or of redirects to TLS', async () => {
    const nginx = await startNginx({ replicas: [gatewayPort] })
    onTestFinished(nginx.stop)
    const session = connectHttp2(nginx.tlsUrl, { ca: nginx.certificate, servername: 'gateway.example' })
    onTestFinished(() => void session.close())
    const stream = session.request({ ':path': `/f/${MARK}`, referer: MARK }).end()
    const [head] = await once(stream, 'response')
    await text(stream)
    expect(head[':status']).toBe(403)
    const redirected = await fetch(`${nginx.redirectUrl}/f/${MARK}`, { redirect: 'manual' })
    expect([redirected.status, redirected.headers.get('location')]).toEqual([308, `https://127.0.0.1/f/${MARK}`])
    await expect.poll(nginx.logs).toMatch(/ GET .* 308 /)
    expect(await nginx.logs()).not.toContain(MARK)
  })
})

it('ADD-34 the proxy of the compose file does not expose the metrics of a witness', async () => {
  const proxy = await startComposeNginx(gatewayPort, port)
  onTestFinished(proxy.stop)
  expect((await fetch(`${proxy.witnessUrl}/health/live`)).status).toBe(200)
  expect((await fetch(`${proxy.witnessUrl}/metrics`)).status).toBe(404)
})

type Failure = 'closes' | 'garbage' | 'half' | 'long head' | 'silent'

/**
 * Reports ready, and answers other requests as their header `x-failure` demands. Emits `silent` with each connection
 * that it leaves unanswered.
 */
async function startFailingGateway(): Promise<Server> {
  const answers: Record<Failure, (socket: Socket) => void> = {
    closes: (socket) => socket.destroy(),
    garbage: (socket) => socket.end('garbage\r\n\r\n'),
    half: (socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'),
    'long head': (socket) => socket.end(`HTTP/1.1 200 OK\r\nLong: ${'x'.repeat(20_000)}\r\n\r\n`),
    silent: (socket) => void server.emit('silent', socket),
  }
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      const head = chunk.toString('latin1')
      const failure = /^x-failure: (.*?)\r$/im.exec(head)?.[1] as Failure | undefined
      if (failure) answers[failure](socket)
      else if (head.startsWith('GET /health')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return server
}

/** Sends half a body to a gateway that does not answer, and disconnects. Returns when the proxy has closed its side. */
async function leave(gateway: Server, method: string, { path, headers }: RequestOptions): Promise<void> {
  const silent = once(gateway, 'silent')
  const length = method === 'PUT' ? { 'content-length': 100_000 } : {}
  const options = { method, path, headers: { ...headers, ...length, 'x-failure': 'silent' } }
  const request = httpRequest({ host: '127.0.0.1', port, agent: false, ...options })
  request.flushHeaders()
  if (method === 'PUT') request.write(Buffer.alloc(50_000))
  const early = once(request, 'response').then(([{ statusCode }]) => {
    throw new Error(`${method} ${path} was answered with ${statusCode}`)
  })
  const [socket] = (await Promise.race([silent, early])) as [Socket]
  const given = once(socket, 'close')
  request.destroy()
  await given
}

/** Sends the beginning of a PATCH and breaks the connection. */
async function patchAndCut(url: string, length: number, bytes: Uint8Array): Promise<void> {
  const { host, hostname, port, pathname } = new URL(url)
  const head = [
    `PATCH ${pathname} HTTP/1.1`,
    `Host: ${host}`,
    'Tus-Resumable: 1.0.0',
    'Content-Type: application/offset+octet-stream',
    'Upload-Offset: 0',
    `Content-Length: ${length}`,
  ]
  const socket = connect(Number(port), hostname)
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  await new Promise<void>((resolve, reject) => {
    socket.on('error', reject)
    socket.on('data', (answer) => reject(new Error(`answered too early: ${answer}`)))
    socket.write(bytes, (error) => (error ? reject(error) : resolve()))
  })
  socket.destroy()
}
