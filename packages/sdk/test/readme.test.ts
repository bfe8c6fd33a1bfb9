// @module-tag nightly

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startProcess } from '@svc/devnet/start-process'
import { expect, it } from 'vitest'
import { useAgentMarket } from './agents.ts'
import { useFolder } from './lockers.ts'

const home = fileURLToPath(new URL('..', import.meta.url))
const market = useAgentMarket()
const folder = useFolder()

it('GEN-09 AGENT-04 the programs of the README buy, upload, attest and delegate, and a second run pays nothing', async () => {
  const readme = await readFile(join(home, 'README.md'), 'utf8')
  const [buying, delegating] = [...readme.matchAll(/```js\n(.*?)```/gs)].map(([, program]) => program)
  const program = `${buying}${delegating}`
    .replace('http://localhost:8402', market.gateway.url)
    .replace('http://localhost:8899', market.chains.primary.url)
    .replace('http://localhost:8403', market.agent.url)
    .replaceAll("'.svc'", JSON.stringify(folder))
  const treasuries = () => Promise.all([market.treasury('SOL'), market.agentTreasury('SOL')])
  const first = await run(program)
  expect(first).toMatch(/^locker_[0-9a-f]{12} sha256:[0-9a-f]{64}\n(.*\n)*pending 0\n$/)
  const paid = await treasuries()
  await market.work()
  await market.work(60)
  expect(await run(program)).toBe(first.replace('pending 0', 'active 1'))
  expect(await treasuries()).toEqual(paid)
})

async function run(program: string): Promise<string> {
  const args = ['--input-type=module', '--eval', program]
  const { code, stdout, stderr } = await startProcess(process.execPath, { args, cwd: home }).ended
  expect(code, stderr).toBe(0)
  return stdout
}
