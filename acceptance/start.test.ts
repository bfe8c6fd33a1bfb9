// The product as a newcomer meets it: started with the README's command, used over HTTP and in a browser.

import { readdir, readFile } from 'node:fs/promises'
import { chromium } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath } from '../scripts/chromium.ts'
import { findPlace, npmStart, type Place, type Started } from './npm-start.ts'

let place: Place
let started: Started
beforeAll(async () => {
  place = await findPlace()
  started = await npmStart(place)
})
afterAll(async () => {
  await started.interrupt()
  await place.leave()
})

const getJson = async (url: string) => (await fetch(url)).json()
/** Whoever is asked waits two seconds for the chains, which may be busy. */
const PATIENTLY = { timeout: 60_000, interval: 500 }

describe('npm start', () => {
  it('VER-20 GEN-06 AGENT-01 brings everything up, and says where it is', async () => {
    const { gateway, agent, primaryChain, evmChain } = place
    for (const address of [gateway, agent, primaryChain, evmChain]) expect(started.output).toContain(address)
    await expect
      .poll(() => getJson(`${gateway}/health`), PATIENTLY)
      .toMatchObject({ status: 'ok', checks: { primary_chain: 'ok', evm_chain: 'ok' } })
    expect(await getJson(`${gateway}/.well-known/svc.json`)).toMatchObject({ keys_url: `${gateway}/v1/keys` })
    await expect
      .poll(() => getJson(`${agent}/health`), PATIENTLY)
      .toMatchObject({ status: 'ok', checks: { gateway: 'ok', primary_chain: 'ok', evm_chain: 'ok' } })
    expect(await readdir(place.dataFolder)).toContain('gateway.db')
    expect(await readdir(`${place.dataFolder}/agent`)).toContain('agent.db')
  })

  it('VER-17 stops on Ctrl-C, and finds its keys again at a second start', async () => {
    const keys = () => getJson(`${place.gateway}/v1/keys`)
    const before = await keys()
    await started.interrupt()
    for (const address of [place.gateway, place.agent]) await expect(fetch(`${address}/health`)).rejects.toThrow()
    started = await npmStart(place)
    expect(await keys()).toEqual(before)
  })

  it('CFG-01 tells all that is wrong with the settings and starts nothing', async () => {
    await expect(npmStart(place, { PORT: 'x', LOG_LEVEL: 'loud' })).rejects.toThrow(/PORT.*LOG_LEVEL/s)
  })

  it('CFG-01 says which port is taken', async () => {
    const other = await findPlace()
    const PORT = place.variables.PORT as string
    await expect(npmStart(other, { PORT })).rejects.toThrow(`Port ${PORT} is in use`)
    await other.leave()
  })
})

describe('the API page', () => {
  it('VER-22 shows every endpoint, tries one out, and asks nobody but the gateway', async () => {
    const browser = await chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox', '--disable-gpu'] })
    const page = await browser.newPage()
    page.setDefaultTimeout(100_000)
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
