// The product as a newcomer meets it: started with the README's command, used over HTTP and in a browser.

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '@svc/testbed/free-port'
import { type Browser, chromium } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { chromiumPath } from '../scripts/chromium.ts'

const root = new URL('..', import.meta.url)
let folder: string
let port: number

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-start-'))
  port = await freePort()
})
afterAll(() => rm(folder, { recursive: true }))

async function npmStart(
  variables: Record<string, string> = {},
): Promise<{ child: ChildProcess; output: () => string }> {
  // Not all of our own environment: the test runner sets variables of its own, BASE_URL among them.
  const { PATH, HOME } = process.env
  const env = { PATH, HOME, PORT: String(port), DATA_DIR: folder, ...variables }
  const child = spawn('npm', ['start'], { cwd: root, env, detached: true })
  let text = ''
  const ready = new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer) => {
      text += chunk
      if (text.includes('Ctrl-C')) resolve()
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.once('exit', (code) => reject(new Error(`npm start ended with ${code}:\n${text}`)))
  })
  await ready
  return { child, output: () => text }
}

/** As Ctrl-C does: the signal reaches the whole process group. */
async function interrupt(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit')
  process.kill(-(child.pid as number), 'SIGINT')
  await exit
}

describe('npm start', () => {
  it('VER-20, GEN-06 brings the gateway up, says where it is, and stops on Ctrl-C', async () => {
    const { child, output } = await npmStart()
    const address = `http://localhost:${port}`
    expect(output()).toContain(address)
    const health = await fetch(`${address}/health`)
    expect(await health.json()).toMatchObject({ status: 'ok' })
    const index = (await (await fetch(`${address}/.well-known/svc.json`)).json()) as { keys_url: string }
    expect(index.keys_url).toBe(`${address}/v1/keys`)
    expect(await readdir(folder)).toContain('gateway.db')
    await interrupt(child)
    await expect(fetch(`${address}/health`)).rejects.toThrow()
  })

  it('VER-17 finds its keys again at a second start', async () => {
    const keys = async () =>
      ((await (await fetch(`http://localhost:${port}/v1/keys`)).json()) as { keys: object[] }).keys
    const first = await npmStart()
    const before = await keys()
    await interrupt(first.child)
    const second = await npmStart()
    expect(await keys()).toEqual(before)
    await interrupt(second.child)
  })

  it('CFG-01 tells all that is wrong with the settings and starts nothing', async () => {
    await expect(npmStart({ PORT: 'x', LOG_LEVEL: 'loud' })).rejects.toThrow(/PORT.*LOG_LEVEL/s)
  })
})

describe('the API page', () => {
  let browser: Browser
  let child: ChildProcess
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: chromiumPath(), args: ['--no-sandbox', '--disable-gpu'] })
    child = (await npmStart()).child
  })
  afterAll(async () => {
    await browser.close()
    await interrupt(child)
  })

  it('VER-22 shows every endpoint, tries one out, and asks nobody but the gateway', async () => {
    const page = await browser.newPage()
    const problems: string[] = []
    const hosts = new Set<string>()
    page.on('pageerror', (error) => problems.push(error.message))
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()))
    page.on('request', (request) => hosts.add(new URL(request.url()).host))
    await page.goto(`http://localhost:${port}/docs`)
    await page.getByRole('link', { name: '/short-url/verify-key' }).first().click()
    await page.getByRole('button', { name: 'Send request' }).click()
    await page.getByText('short_url_token_verification').last().waitFor()
    expect(problems).toEqual([])
    expect([...hosts]).toEqual([`localhost:${port}`])
    await page.close()
  })
})

describe('the README', () => {
  it('names the two commands, and every file it links is there', async () => {
    const readme = await readFile(new URL('README.md', root), 'utf8')
    expect(readme).toContain('npm start')
    expect(readme).toContain('npm test')
    for (const [, link] of readme.matchAll(/\]\((?!http)([^)#]+)/g))
      await readFile(new URL(link!, root)).catch(() => readdir(new URL(link!, root)))
  })
})
