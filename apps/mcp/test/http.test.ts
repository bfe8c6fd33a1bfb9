import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isLoopbackHost } from '../src/server/http-guard.ts'
import { type Desk, environment, type HttpProcess, openDesk, spawnHttp } from './client.ts'

let desk: Desk
let open: HttpProcess
let guarded: HttpProcess
beforeAll(async () => {
  desk = await openDesk()
  const env = environment(desk, { SVC_GATEWAY: 'http://127.0.0.1:9' })
  open = await spawnHttp(env)
  guarded = await spawnHttp({ ...env, SVC_MCP_TOKEN: 'a long secret' }, '--host', '0.0.0.0')
})
afterAll(async () => {
  await open.stop()
  await guarded.stop()
  await desk.remove()
})

const BEGIN = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: LATEST_PROTOCOL_VERSION, capabilities: {}, clientInfo: { name: 'test', version: '1' } },
})
const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

/** Not by fetch: that sets Host and Origin itself. */
async function post(url: string, headers: Record<string, string>, body = BEGIN, method = 'POST') {
  const { hostname, port, pathname } = new URL(url)
  const host = hostname === '0.0.0.0' ? '127.0.0.1' : hostname
  return new Promise<{ status: number; body: string; session: string | undefined }>((resolve, reject) => {
    const sent = request({ host, port, path: pathname, method, headers: { ...JSON_HEADERS, ...headers } }, (answer) => {
      const session = answer.headers['mcp-session-id'] as string | undefined
      text(answer).then((body) => resolve({ status: answer.statusCode ?? 0, body, session }), reject)
    })
    sent.on('error', reject)
    sent.end(method === 'POST' ? body : undefined)
  })
}

describe('on this machine', () => {
  it('pages that reach it by another name, or from another origin, are refused', async () => {
    const { port } = new URL(open.url)
    for (const headers of [
      { host: `evil.example:${port}` },
      { host: 'localhost.evil.example' },
      { host: `127.0.0.1.evil.example:${port}` },
      { host: `localhost:${port}`, origin: 'https://evil.example' },
      { host: `localhost:${port}`, origin: 'null' },
      { host: `localhost:${port}`, origin: `http://localhost:${Number(port) + 1}` },
    ]) {
      const { status, session } = await post(open.url, headers)
      expect(session, JSON.stringify(headers)).toBeUndefined()
      expect([400, 403], JSON.stringify(headers)).toContain(status)
    }
  })

  it('clients by any name of this machine are welcome', async () => {
    const { port } = new URL(open.url)
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`])
      expect(await post(open.url, { host, origin: `http://${host}` }), host).toMatchObject({ status: 200 })
  })

  it('other paths, unknown sessions, long bodies and what is no message are refused', async () => {
    expect(await post(open.url.replace('/mcp', '/'), {})).toMatchObject({ status: 404 })
    expect(await post(open.url, { 'mcp-session-id': 'nobody' })).toMatchObject({ status: 404 })
    expect(await post(open.url, {}, `{"x":"${'x'.repeat(300_000)}"}`)).toMatchObject({ status: 413 })
    for (const body of ['', '{', '[]', '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'])
      expect((await post(open.url, {}, body)).status, body).toBe(400)
    expect((await post(open.url, {}, '', 'GET')).status).toBeGreaterThanOrEqual(400)
  })

  it('a session ends when its client says so', async () => {
    const { session } = await post(open.url, {})
    expect(await post(open.url, { 'mcp-session-id': session! }, '', 'DELETE')).toMatchObject({ status: 200 })
    expect(await post(open.url, { 'mcp-session-id': session! })).toMatchObject({ status: 404 })
  })

  it('many sessions push out the oldest, and the server goes on', async () => {
    const { session } = await post(open.url, {})
    for (let i = 0; i < 100; i++) await post(open.url, {})
    expect(await post(open.url, { 'mcp-session-id': session! })).toMatchObject({ status: 404 })
    expect(await post(open.url, {})).toMatchObject({ status: 200 })
  })
})

describe('for other machines', () => {
  it('nobody is served without the token', async () => {
    for (const authorization of [undefined, 'Bearer', 'Bearer wrong', 'Basic a long secret', 'Bearer a long secre'])
      expect(await post(guarded.url, { ...(authorization && { authorization }) })).toMatchObject({ status: 401 })
    expect(await post(guarded.url, { authorization: 'Bearer a long secret' })).toMatchObject({ status: 200 })
    expect(guarded.log()).not.toContain('secret')
  })

  it('the server does not start without one', async () => {
    const env = environment(desk, {})
    await expect(spawnHttp(env, '--host', '0.0.0.0')).rejects.toThrow('set SVC_MCP_TOKEN')
  })

  it('names that only look like this machine are others', () => {
    expect(['localhost', '127.0.0.1', '::1'].every(isLoopbackHost)).toBe(true)
    expect(['0.0.0.0', '::', 'localhost.example', '192.168.0.1'].some(isLoopbackHost)).toBe(false)
  })
})
