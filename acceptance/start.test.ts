// The product as a newcomer meets it: started with the README's command, used over HTTP and in a browser.

import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { chromium } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath } from '../scripts/chromium.ts'
import { findPlace, npmStart, type Place, type Started } from './npm-start.ts'

let place: Place
beforeAll(async () => {
  place = await findPlace()
})
afterAll(() => place.leave())

const getJson = async (path: string) => (await fetch(place.gateway + path)).json()

describe('npm start', () => {
  it('VER-20, GEN-06, AGENT-01 brings everything up, says where it is, and stops on Ctrl-C', async () => {
    const { output, interrupt } = await npmStart(place)
    const { gateway, agent, primaryChain, evmChain } = place
    for (const address of [gateway, agent, primaryChain, evmChain]) expect(output).toContain(address)
    expect(await getJson('/health')).toMatchObject({ status: 'ok', checks: { primary_chain: 'ok', evm_chain: 'ok' } })
    expect(await getJson('/.well-known/svc.json')).toMatchObject({ keys_url: `${place.gateway}/v1/keys` })
    const agentHealth = await (await fetch(`${agent}/health`)).json()
    expect(agentHealth).toMatchObject({ status: 'ok', checks: { gateway: 'ok', primary_chain: 'ok', evm_chain: 'ok' } })
    expect(await readdir(place.dataFolder)).toContain('gateway.db')
    expect(await readdir(`${place.dataFolder}/agent`)).toContain('agent.db')
    await interrupt()
    for (const address of [gateway, agent]) await expect(fetch(`${address}/health`)).rejects.toThrow()
  })

  it('VER-17 finds its keys again at a second start', async () => {
    const first = await npmStart(place)
    const before = await getJson('/v1/keys')
    await first.interrupt()
    const second = await npmStart(place)
    expect(await getJson('/v1/keys')).toEqual(before)
    await second.interrupt()
  })

  it('CFG-01 tells all that is wrong with the settings and starts nothing', async () => {
    await expect(npmStart(place, { PORT: 'x', LOG_LEVEL: 'loud' })).rejects.toThrow(/PORT.*LOG_LEVEL/s)
  })

  it('CFG-01 says which port is taken', async () => {
    const server = createServer().listen(Number(place.variables.PORT), '127.0.0.1')
    await once(server, 'listening')
    await expect(npmStart(place)).rejects.toThrow(`Port ${place.variables.PORT} is in use`)
    server.close()
  })
})

describe('the API page', () => {
  let started: Started
  beforeAll(async () => {
    started = await npmStart(place)
  })
  afterAll(() => started.interrupt())

  it('VER-22 shows every endpoint, tries one out, and asks nobody but the gateway', async () => {
    const browser = await chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox', '--disable-gpu'] })
    const page = await browser.newPage()
    const problems: string[] = []
    const origins = new Set<string>()
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
    page.on('request', (request) => origins.add(new URL(request.url()).origin))
    await page.goto(`${place.gateway}/docs`)
    await page.getByRole('link', { name: '/short-url/verify-key' }).first().click()
    await page.getByRole('button', { name: 'Send request' }).click()
    await page.getByText('short_url_token_verification').last().waitFor()
    expect(problems).toEqual([])
    expect([...origins]).toEqual([place.gateway])
    await browser.close()
  })
})

describe('the README', () => {
  it('names the two commands, and every file it links is there', async () => {
    const root = new URL('..', import.meta.url)
    const readme = await readFile(new URL('README.md', root), 'utf8')
    expect(readme).toContain('npm start')
    expect(readme).toContain('npm test')
    const links = [...readme.matchAll(/\]\((?!http)([^)#]+)/g)].map((match) => match[1] as string)
    for (const link of links) await readFile(new URL(link, root))
    expect(links.length).toBeGreaterThan(5)
  })
})
