// @module-tag nightly

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startProcess } from '@svc/devnet/start-process'
import { expect, it, onTestFinished } from 'vitest'
import { openAgentMarket } from './agents.ts'
import { type Market, openMarket } from './market.ts'

const home = fileURLToPath(new URL('..', import.meta.url))

/** The first programs of the README as one program, with the addresses of this market. */
async function readmeProgram(market: Market, folder: string, blocks: number): Promise<string> {
  const readme = await readFile(join(home, 'README.md'), 'utf8')
  const all = [...readme.matchAll(/```js\n(.*?)```/gs)].map(([, program]) => program)
  return all
    .slice(0, blocks)
    .join('')
    .replace('http://localhost:8402', market.gateway.url)
    .replace('http://localhost:8899', market.chains.primary.url)
    .replaceAll("'.svc'", JSON.stringify(folder))
}

it('GEN-09 the first program of the README buys, uploads and attests, and a second run pays nothing more', async () => {
  const market = await openMarket()
  const folder = await mkdtemp(join(tmpdir(), 'svc-readme-'))
  onTestFinished(async () => {
    await market.close()
    await rm(folder, { recursive: true })
  })
  const program = await readmeProgram(market, folder, 1)
  const before = await market.treasury('SOL')
  const first = await run(program)
  expect(first).toMatch(/^locker_[0-9a-f]{12} sha256:[0-9a-f]{64}\n$/)
  const paid = (await market.treasury('SOL')) - before
  expect(await run(program)).toBe(first)
  expect((await market.treasury('SOL')) - before).toBe(paid)
})

it('AGENT-04 the second program of the README delegates the locker to the agent', async () => {
  const market = await openAgentMarket()
  const folder = await mkdtemp(join(tmpdir(), 'svc-readme-'))
  onTestFinished(async () => {
    await market.close()
    await rm(folder, { recursive: true })
  })
  const program = (await readmeProgram(market, folder, 2)).replace('http://localhost:8403', market.agent.url)
  expect(await run(program)).toMatch(/\npending 0\n$/)
  await market.work()
  await market.work(60)
  expect(await run(program)).toMatch(/\nactive 1\n$/)
})

async function run(program: string): Promise<string> {
  const args = ['--input-type=module', '--eval', program]
  const { code, stdout, stderr } = await startProcess(process.execPath, { args, cwd: home }).ended
  expect(code, stderr).toBe(0)
  return stdout
}
