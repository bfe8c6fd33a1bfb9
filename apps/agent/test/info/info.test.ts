import { readFile } from 'node:fs/promises'
import { agentEndpoints } from '@svc/api/agent/agent'
import type { AgentDiscovery, AgentHealth } from '@svc/api/agent/info'
import { createFreshDatabase } from '@svc/devnet/databases'
import { toHex } from '@svc/protocol/bytes'
import { VERSION } from '@svc/protocol/version'
import { expect, it, onTestFinished, vi } from 'vitest'
import { startSecondAgent, useAgentStack } from '../agent-stack.ts'
import { ed25519Wallet } from '../wallets.ts'

const stack = useAgentStack(() => ({ BASE_URL: 'https://agent.example/base/' }))

const CLOSED = 'http://127.0.0.1:9'

it('AGENT-01 VER-20 the health check reports every part', async () => {
  const { status, headers, body } = await stack.send<AgentHealth>('GET', '/health')
  expect([status, headers.get('cache-control')]).toEqual([200, 'no-store'])
  expect(body).toEqual({
    status: 'ok',
    version: '1.0.0',
    release: VERSION,
    time: '2026-09-01T12:00:00Z',
    checks: { database: 'ok', gateway: 'ok', primary_chain: 'ok', evm_chain: 'ok' },
  })
})

it('AGENT-01 the health check stays ok and reports a chain that fails or is disabled', async () => {
  const agent = await startSecondAgent(stack, { PRIMARY_RPC_URLS: CLOSED, EVM_RPC_URLS: '', EVM_TREASURY: '' })
  onTestFinished(() => agent.stop())
  const response = await fetch(`${agent.url}/health`)
  expect(response.status).toBe(200)
  expect(await response.json()).toMatchObject({
    status: 'ok',
    checks: { primary_chain: 'failing', evm_chain: 'disabled' },
  })
})

it('AGENT-01 T-88 the health check answers 503 without the database, and a service with a wrong clock sells and signs nothing', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const database = await createFreshDatabase('postgres')
  const agent = await startSecondAgent(stack, { DATABASE_URL: database.url })
  onTestFinished(() => agent.stop())
  const ask = () => fetch(`${agent.url}/v1/service/request`)
  /** Sets our clock and triggers the comparison with the database's. */
  async function setClock(time: number, isWrong: boolean) {
    vi.setSystemTime(time)
    vi.advanceTimersByTime(10_000)
    await expect.poll(() => agent.context.clock.isWrong()).toBe(isWrong)
  }
  expect((await ask()).status).toBe(402)
  await setClock(vi.getRealSystemTime() + 90_000, true)
  const refused = await ask()
  expect([refused.status, await refused.json()]).toMatchObject([503, { error: 'database_unavailable' }])
  const { headers } = stack.sign(ed25519Wallet(), { path: '/v1/delegations', ops: ['locker:read'] })
  expect((await fetch(`${agent.url}/v1/delegations`, { headers })).status).toBe(503)
  expect(await (await fetch(`${agent.url}/health`)).json()).toMatchObject({ status: 'degraded' })
  expect(await agent.context.queue.drain()).toEqual({ done: 0, failed: 0, dead: 0 })
  await setClock(vi.getRealSystemTime(), false)
  expect((await ask()).status).toBe(402)
  await agent.context.queue.stop()
  await database.drop()
  const response = await fetch(`${agent.url}/health`)
  expect(response.status).toBe(503)
  expect(await response.json()).toMatchObject({ status: 'degraded', checks: { database: 'failing', gateway: 'ok' } })
})

it('AGENT-01 the discovery document names the endpoints, the gateway and the signing key', async () => {
  const { status, body } = await stack.send<AgentDiscovery>('GET', '/.well-known/svc-agent.json')
  expect(status).toBe(200)
  expect(body).toMatchObject({
    name: 'svc-agent',
    environment: 'development',
    base_url: 'https://agent.example/base',
    gateway_url: stack.proxy.url,
    openapi_url: 'https://agent.example/base/openapi.json',
    subscription: { subscription_days: 30, price_usd: 5 },
    signing_key: { alg: 'ed25519', public_key_hex: toHex(stack.agent.context.signer.publicKey) },
    auth: { identity_header: 'X-Svc-Identity' },
  })
  const listed = body.endpoints.map(({ method, path }) => `${method} ${path}`)
  expect(listed).toEqual(agentEndpoints.map(({ method, path }) => `${method} ${path}`))
})

it('T-12 the public documents contain no secret', async () => {
  const pages = await Promise.all(['/health', '/.well-known/svc-agent.json', '/openapi.json'].map(textAt))
  for (const name of ['agent', 'delegation']) {
    const file = `${stack.agent.context.config.dataDir}/keys/${name}.development.key`
    const seed = (await readFile(file, 'utf8')).trim()
    expect(seed).toHaveLength(64)
    for (const page of pages) expect(page).not.toContain(seed)
  }
})

async function textAt(path: string): Promise<string> {
  return (await fetch(stack.agent.url + path)).text()
}

it('VER-22 the service has its own OpenAPI document', async () => {
  const document = JSON.parse(await textAt('/openapi.json'))
  expect(document).toMatchObject({
    openapi: '3.1.0',
    info: { title: 'svc agent service' },
    servers: [{ url: 'https://agent.example/base' }],
  })
  expect(Object.keys(document.paths)).toEqual([...new Set(agentEndpoints.map(({ path }) => path))])
})

it('GEN-02 ERR-30 every error links to a page about its code', async () => {
  const { body } = await stack.send<{ docs_url: string }>('GET', '/v1/nothing')
  expect(body.docs_url).toBe('https://agent.example/base/errors/not_found')
  expect(await textAt('/errors/not_found')).toContain('Next: ')
  expect(await textAt('/errors')).toContain('DELEGATION_LIMIT_EXCEEDED')
})
