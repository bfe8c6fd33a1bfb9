// The first steps of the README: `npm start`, the health check, the API page in a browser.

import { readdir } from 'node:fs/promises'
import { chromium } from 'playwright'
import { describe, expect, it } from 'vitest'
import { chromiumPath } from '../scripts/chromium.ts'
import { isOnPostgres, newInstallation, npmStart, useNpmStart } from './npm-start.ts'

const service = useNpmStart()

const getJson = async (url: string) => (await fetch(url)).json()
/** A health check waits up to two seconds for the chains, which may be busy. */
const POLL = { timeout: 60_000, interval: 500 }

describe('npm start', () => {
  it('VER-20 GEN-06 starts everything and prints the addresses', { tags: ['nightly'] }, async () => {
    const { gateway, agent, witness, primaryChain, evmChain } = service
    for (const address of [gateway, agent, witness, primaryChain, evmChain]) expect(service.output).toContain(address)
    await expect
      .poll(() => getJson(`${gateway}/health`), POLL)
      .toMatchObject({ status: 'ok', checks: { primary_chain: 'ok', evm_chain: 'ok' } })
    expect(await getJson(`${gateway}/.well-known/svc.json`)).toMatchObject({ keys_url: `${gateway}/v1/keys` })
    await expect
      .poll(() => getJson(`${agent}/health`), POLL)
      .toMatchObject({ status: 'ok', checks: { gateway: 'ok', primary_chain: 'ok', evm_chain: 'ok' } })
    const { vkey } = await getJson(`${gateway}/v1/log`)
    expect(await (await fetch(witness)).text()).toContain(`log ${vkey} ${gateway}/log`)
    expect((await readdir(service.dataFolder)).includes('gateway.db')).toBe(!isOnPostgres)
    expect((await readdir(`${service.dataFolder}/agent`)).includes('agent.db')).toBe(!isOnPostgres)
  })

  it('VER-17 stops on Ctrl-C, and uses the same keys after a second start', { tags: ['nightly'] }, async () => {
    const keys = () => getJson(`${service.gateway}/v1/keys`)
    const before = await keys()
    await service.interrupt()
    for (const address of [service.gateway, service.agent, service.witness])
      await expect(fetch(`${address}/health`)).rejects.toThrow()
    await service.start()
    expect(await keys()).toEqual(before)
  })

  it('CFG-01 reports all wrong settings together and starts nothing', { tags: ['nightly'] }, async () => {
    await expect(npmStart(service, { PORT: 'x', LOG_LEVEL: 'loud' })).rejects.toThrow(/PORT.*LOG_LEVEL/s)
  })

  it.each(['PORT', 'AGENT_PORT', 'WITNESS_PORT', 'DEV_PRIMARY_RPC_PORT', 'DEV_EVM_RPC_PORT'])(
    'CFG-01 names the port in use and its variable: %s',
    { tags: ['nightly'] },
    async (name) => {
      const other = await newInstallation()
      const port = service.variables[name] as string
      const message = `Port ${port} is in use: stop what runs there, or choose another with ${name} `
      await expect(npmStart(other, { [name]: port })).rejects.toThrow(message)
      await other.remove()
    },
  )
})

it('CFG-01 a second npm start names all ports in use with their variables', { tags: ['nightly'] }, async () => {
  const other = await newInstallation()
  const { PORT, WITNESS_PORT, DEV_EVM_RPC_PORT } = service.variables
  const ports = { PORT, WITNESS_PORT, DEV_EVM_RPC_PORT } as Record<string, string>
  const lines = Object.entries(ports).map(([name, port]) => `  - port ${port} is in use: .* with ${name}\\n`)
  await expect(npmStart(other, ports)).rejects.toThrow(new RegExp(lines.join('')))
  await other.remove()
})

describe('the API page', () => {
  it('VER-22 lists every endpoint, sends a request, and loads nothing from other hosts', {
    tags: ['nightly'],
  }, async () => {
    const browser = await chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox', '--disable-gpu'] })
    const page = await browser.newPage()
    page.setDefaultTimeout(100_000)
    const problems: string[] = []
    const origins = new Set<string>()
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
    page.on('request', (request) => origins.add(new URL(request.url()).origin))
    await page.goto(`${service.gateway}/docs`)
    await page.getByRole('link', { name: '/short-url/verify-key' }).first().click()
    await page.getByRole('button', { name: 'Send request' }).click()
    await page.getByText('short_url_token_verification').last().waitFor()
    expect(problems).toEqual([])
    expect([...origins]).toEqual([service.gateway])
    await browser.close()
  })
})
