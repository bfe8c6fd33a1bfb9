import { expect, it } from 'vitest'
import { runCommand } from '../gateway-process.ts'

const run = (...args: string[]) => runCommand(args)

it('svc-gateway --help lists every command on one line', async () => {
  const { code, stdout, stderr } = await run('--help')
  expect([code, stderr]).toEqual([0, ''])
  for (const name of ['start', 'import-attestations', 'deploy-evm-registry', 'jobs', 'lockers', 'audit']) {
    expect(stdout).toMatch(new RegExp(`^ {2}${name} +\\w.*$`, 'm'))
  }
})

it.each([
  ['an unknown command', ['restart'], 'unknown command "restart"'],
  ['no command', [], 'no command given'],
])('svc-gateway exits with 2 and prints one line for %s', async (_what, args, problem) => {
  expect(await run(...args)).toMatchObject({
    code: 2,
    stdout: '',
    stderr: `svc-gateway: ${problem}: see svc-gateway --help and docs/operations.md\n`,
  })
})

it.each(['start', 'set-up-registry'])(
  'CFG-01 svc-gateway %s exits with 1 and names the settings that are missing',
  async (command) => {
    const { code, stderr } = await run(command)
    expect([code, stderr]).toEqual([1, expect.stringContaining('BASE_URL')])
  },
)

it.each([
  ['replay', 'replay show | replay --reason <why> [--accept]'],
  ['journal', 'journal [show] | prune --before'],
  ['audit', 'audit [--head'],
])('svc-gateway %s --help shows its usage, and does nothing', async (command, usage) => {
  const { code, stdout, stderr } = await run(command, '--help')
  expect([code, stdout, stderr]).toEqual([0, expect.stringContaining(`usage: svc-gateway ${usage}`), ''])
})
