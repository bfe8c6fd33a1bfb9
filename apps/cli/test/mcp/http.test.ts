import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { LATEST_PROTOCOL_VERSION } from '@modelcontextprotocol/sdk/types.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isLoopbackHost } from '../../src/mcp/server/http-guard.ts'
import { environment, type HttpProcess, startHttp, useDesk } from './client.ts'

const desk = useDesk()
let open: HttpProcess
let guarded: HttpProcess
beforeAll(async () => {
  const env = environment(desk, { SVC_GATEWAY: 'http://127.0.0.1:9' })
  open = await startHttp(env)
  guarded = await startHttp({ ...env, SVC_MCP_TOKEN: 'a long secret' }, '--host', '0.0.0.0')
})
afterAll(async () => {
  await open.kill()
  await guarded.kill()
})

const BEGIN = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: LATEST_PROTOCOL_VERSION, capabilities: {}, clientInfo: { name: 'test', version: '1' } },
})
const JSON_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }

/** Does not use fetch, which sets Host and Origin itself. */
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

describe('a server on the loopback interface', () => {
  it('rejects requests with a foreign Host or Origin', async () => {
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

  it('accepts clients under every loopback name', async () => {
    const { port } = new URL(open.url)
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`])
      expect(await post(open.url, { host, origin: `http://${host}` }), host).toMatchObject({ status: 200 })
  })

  it('rejects other paths, unknown sessions, large bodies and invalid messages', async () => {
    expect(await post(open.url.replace('/mcp', '/'), {})).toMatchObject({ status: 404 })
    expect(await post(open.url, { 'mcp-session-id': 'nobody' })).toMatchObject({ status: 404 })
    expect(await post(open.url, {}, `{"x":"${'x'.repeat(300_000)}"}`)).toMatchObject({ status: 413 })
    for (const body of ['', '{', '[]', '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'])
      expect((await post(open.url, {}, body)).status, body).toBe(400)
    expect((await post(open.url, {}, '', 'GET')).status).toBeGreaterThanOrEqual(400)
  })

  it('ends a session when its client deletes it', async () => {
    const { session } = await post(open.url, {})
    expect(await post(open.url, { 'mcp-session-id': session! }, '', 'DELETE')).toMatchObject({ status: 200 })
    expect(await post(open.url, { 'mcp-session-id': session! })).toMatchObject({ status: 404 })
  })

  it('closes the oldest session above the limit and keeps serving', async () => {
    const { session } = await post(open.url, {})
    for (let i = 0; i < 100; i++) await post(open.url, {})
    expect(await post(open.url, { 'mcp-session-id': session! })).toMatchObject({ status: 404 })
    expect(await post(open.url, {})).toMatchObject({ status: 200 })
  })
})

describe('a server that other machines can reach', () => {
  it('rejects requests without the token', async () => {
    for (const authorization of [undefined, 'Bearer', 'Bearer wrong', 'Basic a long secret', 'Bearer a long secre'])
      expect(await post(guarded.url, { ...(authorization && { authorization }) })).toMatchObject({ status: 401 })
    expect(await post(guarded.url, { authorization: 'Bearer a long secret' })).toMatchObject({ status: 200 })
    expect(guarded.printed.stderr).not.toContain('secret')
  })

  it('does not start without a token', async () => {
    const env = environment(desk, {})
    await expect(startHttp(env, '--host', '0.0.0.0')).rejects.toThrow('set SVC_MCP_TOKEN')
  })

  it('does not count names that only resemble loopback names as loopback', () => {
    expect(['localhost', '127.0.0.1', '::1'].every(isLoopbackHost)).toBe(true)
    expect(['0.0.0.0', '::', 'localhost.example', '192.168.0.1'].some(isLoopbackHost)).toBe(false)
  })
})
