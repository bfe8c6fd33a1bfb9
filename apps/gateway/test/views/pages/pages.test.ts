import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { startTestGateway } from '@svc/devnet/services/gateway'
import { onlyProvider } from '@svc/devnet/services/only-provider'
import { ed25519Identity, openTestGateway } from '@svc/devnet/services/test-gateway'
import { VERSION } from '@svc/protocol/version'
import { createLog } from '@svc/service/program/log'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Gateway } from '../../../src/gateway.ts'
import { openTestSession } from '../../adapters/http/sessions/sessions.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'
const SCRIPT = 'console.log("page")'
const SAVED_COPY = '<!doctype html><title>Verify</title>'

let folder: string
let gateway: Gateway

/** Writes a folder like the build of `apps/web`. */
function writeBuild(dist: string, version: string): void {
  const assets = join(dist, 'build-1/assets')
  mkdirSync(assets, { recursive: true })
  const html = '<!doctype html><script type="module" src="./assets/index-1.js"></script>'
  writeFileSync(join(dist, 'build-1/index.html'), html)
  writeFileSync(join(dist, 'build-1/verify.html'), SAVED_COPY)
  writeFileSync(join(assets, 'index-1.js'), SCRIPT)
  writeFileSync(join(assets, 'index-1.js.br'), brotliCompressSync(SCRIPT))
  writeFileSync(join(assets, 'index-1.js.gz'), gzipSync(SCRIPT))
  const pages = [
    { path: '/' },
    { path: '/docs' },
    { path: '/errors' },
    { path: '/errors/{code}' },
    { path: '/view/{receipt_id}/{+filename}' },
    { path: '/deep/{id}/{+rest}', policy: { 'worker-src': "'self'" } },
    { path: '/s/{share_id}', policy: { 'media-src': "'self'" } },
    { path: '/stored', policy: { 'connect-src': "'self' {storage}" } },
  ]
  const manifest = { version, folder: 'build-1', pages, inputs: {} }
  writeFileSync(join(dist, 'newest.json'), JSON.stringify(manifest))
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-pages-'))
  writeBuild(folder, VERSION)
  gateway = await startTestGateway({ PAGES_DIR: folder, AGENT_URL: 'https://agent.example/' })
})
afterAll(async () => {
  await gateway.stop()
  rmSync(folder, { recursive: true })
})

const recordedLog = (lines: string[]) => {
  const write = (line: string) => void lines.push(line)
  return createLog('warn', { write, writeSoon: write, flush: () => {} })
}

const get = (path: string, headers: Record<string, string> = {}, init: RequestInit = {}) =>
  fetch(gateway.url + path, { headers, ...init })

describe('/', () => {
  it.each([
    ['nothing', undefined],
    ['JSON before a page', 'application/json, text/html;q=0.9'],
    ['no page at all', 'text/html;q=0, */*'],
  ])('VER-22 answers the index to a program that asks for %s', async (_, accept) => {
    // fetch sends */* by itself.
    const answer = await new Promise<{ type: string; vary: string; text: string }>((resolve) => {
      request(`${gateway.url}/`, { headers: accept === undefined ? {} : { accept } }, async (response) => {
        let text = ''
        for await (const chunk of response) text += chunk
        resolve({ type: String(response.headers['content-type']), vary: String(response.headers.vary), text })
      }).end()
    })
    expect(answer.type).toBe('application/json; charset=utf-8')
    expect(answer.vary).toBe('accept, accept-encoding')
    expect(answer.text).toBe(await (await get('/.well-known/svc.json')).text())
  })

  it('T-61 answers the welcome page to a browser with a strict content security policy and no referrer', async () => {
    const response = await get('/', { accept: BROWSER })
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    const policy = response.headers.get('content-security-policy') as string
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|\*|data:|https?:/)
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(response.headers.get('referrer-policy')).toBe('no-referrer')
    expect(response.headers.get('cache-control')).toBe('no-cache')
    const tag = response.headers.get('etag') as string
    const again = await get('/', { accept: BROWSER, 'if-none-match': tag })
    expect([again.status, await again.text()]).toEqual([304, ''])
  })

  it('VER-22 names the configured agent service in the index', async () => {
    expect(await (await get('/')).json()).toMatchObject({ agent_url: 'https://agent.example' })
  })
})

it('T-61 the gateway serves the single-file verify page only as a download, with its hash in the index and in the list of checksums', async () => {
  const sha256 = createHash('sha256').update(SAVED_COPY).digest('hex')
  expect(await (await get('/')).json()).toMatchObject({
    verify_page: { url: expect.stringMatching(/^http.*\/verify\.html$/), sha256 },
  })
  const page = await get('/verify.html')
  expect(await page.text()).toBe(SAVED_COPY)
  expect(page.headers.get('content-disposition')).toBe('attachment; filename="verify.html"')
  expect(page.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
  expect(page.headers.get('x-content-type-options')).toBe('nosniff')
  expect(await (await get('/verify.html.sha256')).text()).toBe(`${sha256}  verify.html\n`)
})

describe('pages', () => {
  it('ADD-61 T-61 a browser gets the page of a share whether or not the share exists, and a program its answer', async () => {
    const page = await get('/s/AAAAAAAAAAAAAAAAAAAAAA', { accept: BROWSER })
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('src="../assets/index-1.js"')])
    expect(page.headers.get('content-security-policy')).toContain("media-src 'self'")
    expect(['vary', 'referrer-policy', 'x-robots-tag'].map((name) => page.headers.get(name))).toEqual([
      'accept',
      'no-referrer',
      'noindex, nofollow',
    ])
    const program = await get('/s/AAAAAAAAAAAAAAAAAAAAAA', { accept: '*/*' })
    expect([program.status, ((await program.json()) as { error: string }).error]).toEqual([404, 'SHARE_NOT_FOUND'])
  })

  it('T-61 link to their files relative to their own depth, so that they work under any prefix', async () => {
    expect(await (await get('/docs')).text()).toContain('src="./assets/index-1.js"')
    const deep = await get('/deep/rcpt_1/folder/a%2Fb.txt')
    expect(await deep.text()).toContain('src="../../../assets/index-1.js"')
    expect(deep.headers.get('referrer-policy')).toBe('no-referrer')
    expect(deep.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(deep.headers.get('content-security-policy')).toContain("worker-src 'self'")
  })

  it('T-61 SHORT-09 may connect only to the gateway and to the storage that it redirects clients to', async () => {
    const policyOf = async (url: string) => (await fetch(`${url}/stored`)).headers.get('content-security-policy')
    expect(await policyOf(gateway.url)).toContain("connect-src 'self';")
    const local = gateway.context.providers.named('gcs')
    const providers = onlyProvider({ ...local, redirectsTo: 'https://storage.example' })
    const redirecting = await startTestGateway({ PAGES_DIR: folder }, { providers })
    expect(await policyOf(redirecting.url)).toContain("connect-src 'self' https://storage.example;")
    await redirecting.stop()
  })

  it('T-61 load assets that are compressed, typed and cached permanently', async () => {
    const packed = await get('/assets/index-1.js', { 'accept-encoding': 'gzip, br' })
    expect(packed.headers.get('content-encoding')).toBe('br')
    expect(packed.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(packed.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(packed.headers.get('x-content-type-options')).toBe('nosniff')
    expect(await packed.text()).toBe(SCRIPT)
    const plain = await get('/assets/index-1.js', { 'accept-encoding': 'identity' })
    expect(plain.headers.has('content-encoding')).toBe(false)
    const head = await get('/assets/index-1.js', { 'accept-encoding': 'gzip' }, { method: 'HEAD' })
    expect([head.status, head.headers.get('content-encoding'), await head.text()]).toEqual([200, 'gzip', ''])
  })

  it.each(['/assets/..%2fnewest.json', '/assets/index-1.js.br'])(
    'VER-22 GET %s is a 404 in JSON, also for a browser',
    async (path) => {
      const response = await get(path, { accept: BROWSER })
      expect(response.status).toBe(404)
      expect(await response.json()).toMatchObject({ error: 'not_found' })
    },
  )

  it.each([
    ['/buy', 404],
    ['/v1/nothing', 404],
    ['/errors', 200],
    ['/errors/not_found', 200],
    ['/errors/nothing', 422],
  ])('VER-22 T-61 GET %s is a page with status %i for a browser, and none for a program', async (path, status) => {
    const page = await get(path, { accept: BROWSER, 'if-none-match': '*' })
    expect(page.status).toBe(status)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(page.headers.get('vary')).toBe('accept')
    expect(await page.text()).toContain(`src="${'../'.repeat(path.split('/').length - 2) || './'}assets/index-1.js"`)
    const plain = await get(path)
    expect(plain.status).toBe(status)
    expect(plain.headers.get('content-type')).toMatch(status === 200 ? /^text\/plain/ : /^application\/json/)
  })

  it('VER-22 a browser that posts to a missing address, or gets a missing receipt, receives JSON', async () => {
    const posted = await get('/buy', { accept: BROWSER }, { method: 'POST' })
    expect([posted.status, posted.headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8'])
    const receipt = await get(`/v1/receipts/rcpt_${'0'.repeat(32)}`, { accept: BROWSER })
    expect([receipt.status, receipt.headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8'])
  })
})

describe('a gateway whose pages are not built', () => {
  it('VER-22 warns at its start, answers the index to browsers too, and serves the interface', async () => {
    const lines: string[] = []
    const log = recordedLog(lines)
    const other = await startTestGateway({ PAGES_DIR: join(folder, 'nowhere') }, { log })
    expect(lines.join()).toContain('the web pages are not built')
    expect(await (await fetch(`${other.url}/`, { headers: { accept: BROWSER } })).json()).toMatchObject({ name: 'svc' })
    const docs = await fetch(`${other.url}/docs`)
    expect(await docs.text()).toContain('openapi.json')
    expect((await fetch(`${other.url}/health`)).status).toBe(200)
    await other.stop()
  })

  it('VER-22 warns at its start when the pages belong to another release', async () => {
    const old = join(folder, 'old')
    writeBuild(old, '0.9.0')
    const lines: string[] = []
    const log = recordedLog(lines)
    const other = await startTestGateway({ PAGES_DIR: old }, { log })
    expect(lines.join()).toContain('another version')
    await other.stop()
  })
})

it('ADD-19 SESS-03 viewer_url leads to the page that shows the file, or to its bytes where the pages are not built', async () => {
  for (const [dist, path] of [
    [folder, '/view/'],
    [join(folder, 'nowhere'), '/v1/r/'],
  ] as const) {
    const instance = await openTestGateway({ PAGES_DIR: dist })
    const locker = await instance.locker(ed25519Identity())
    const session = await openTestSession(instance, locker, { files: [{ filename: 'docs/a b.txt' }] })
    await session.raw(0, 'text')
    const { viewer_url } = (await session.finalize()).body
    const { baseUrl } = instance.gateway.context.config.http
    const rest = `${path === '/view/' ? '' : 'f/'}docs/a%20b\\.txt`
    expect(viewer_url).toMatch(new RegExp(`^${baseUrl}${path}${session.opened.session_id}\\.[\\w-]{43}/${rest}$`))
    const answer = await fetch((viewer_url as string).replace(baseUrl, instance.gateway.url))
    expect(answer.headers.get('content-type')).toMatch(path === '/view/' ? 'text/html' : 'application/octet-stream')
    await instance.close()
  }
})
