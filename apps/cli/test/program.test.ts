import { toBase58 } from '@svc/protocol/bytes'
import { describe, expect, it } from 'vitest'
import { createProgram } from '../src/program.ts'
import { run } from '../src/run.ts'
import type { Settings } from '../src/setup/settings.ts'
import { exits, jsonDocument, jsonLines, testHost, useHome } from './host.ts'

const PRIVATE_KEY = toBase58(new Uint8Array(64).fill(7))

const home = useHome()

describe('svc', () => {
  it('shows every command, a complete example and the exit codes in its help', async () => {
    const { exitCode, stdout } = await home.svc(['--help'])
    expect(exitCode).toBe(0)
    const named = ['svc keys pin', 'svc verify bundle.json', 'svc delegate photos', 'Exit codes', '130', 'SVC_GATEWAY']
    for (const text of named) expect(stdout).toContain(text)
    const program = await createProgram([], testHost({}).host, run)
    for (const command of program.createHelp().visibleCommands(program))
      expect(stdout).toMatch(new RegExp(`^  ${command.name()} `, 'm'))
    expect(widestLine(stdout)).toBeLessThanOrEqual(100)
  })

  it('has help for each command and subcommand that fits in 100 columns', async () => {
    const { commands } = await createProgram([], testHost({}).host, run)
    const all = commands.flatMap((command) => [
      [command.name()],
      ...command.commands.map((below) => [command.name(), below.name()]),
    ])
    for (const names of all) {
      const { exitCode, stdout } = await home.svc([...names, '--help'])
      expect([exitCode, stdout]).toEqual([0, expect.stringContaining(`Usage: svc ${names.join(' ')}`)])
      expect(widestLine(stdout), names.join(' ')).toBeLessThanOrEqual(100)
    }
    expect(commands.length).toBeGreaterThan(25)
    expect(all.length).toBeGreaterThan(35)
  })

  it("shows a command's own options in its help, those of its default subcommand, and where the others are", async () => {
    const { stdout } = await home.svc(['lockers', '--help'])
    for (const option of ['--remote', '--usage', '-h, --help']) expect(stdout).toContain(`  ${option}`)
    expect(stdout).not.toContain('--primary-rpc')
    expect(stdout).toMatch(/\nOptions of every command, [^\n]*: svc --help\n$/)
    expect((await home.svc(['--help'])).stdout).toContain('--primary-rpc')
    for (const [alias, name] of [
      ['upload', 'put'],
      ['download', 'get'],
      ['list', 'ls'],
    ])
      expect((await home.svc([alias!, '--help'])).stdout).toContain(`Usage: svc ${name}|${alias} [options]`)
  })

  it.each([
    ['an unknown command', ['frobnicate'], 'svc: unknown command frobnicate. See: svc --help'],
    ['a misspelled command', ['verfy'], 'svc: unknown command verfy (did you mean verify?). See: svc --help'],
    ['an unknown option', ['quote', '--colour'], 'svc quote: unknown option --colour. See: svc quote --help'],
    ['a misspelled option', ['put', 'a', '--folow'], 'svc put: unknown option --folow (did you mean --follow?). See'],
    ['a missing argument', ['put'], 'svc put: missing PATH. See: svc put --help'],
    [
      'a missing argument of a subcommand',
      ['lockers', 'add'],
      'svc lockers add: missing RECEIPT. See: svc lockers add',
    ],
    ['an unknown provider', ['quote', '--provider', 'floppy'], 'Allowed choices'],
    ['a --ttl of more than a day', ['url', 'a', '--ttl', '2000'], 'from 1 to 1440'],
    ['an operator that is an EVM account', ['operators', 'add', `0x${'ab'.repeat(20)}`], 'It is an EVM address'],
    ['an operator that is a private key', ['operators', 'add', PRIVATE_KEY], 'It is a private key: never share it'],
    ['an operator that is not a key', ['buy', '--operator', 'me'], 'It must be an Ed25519 public key in base58'],
  ])('rejects %s in one line with exit code 2', async (_, args, text) => {
    const { exitCode, stdout, stderr } = await home.svc(args)
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain(text)
    expect(stderr).not.toContain(PRIVATE_KEY)
    expect(stderr).toMatch(/^svc[^\n]*\. See: svc [^\n]*--help\n$/)
    const [reported, ...others] = jsonLines((await home.svc([...args, '--json'])).stderr)
    expect([reported, others]).toMatchObject([
      { error: { code: 'usage', exit_code: 2, message: expect.any(String), hint: expect.stringContaining('--help') } },
      [],
    ])
  })

  it('shows the help when no command is given, and points to it when a command has no better advice', async () => {
    expect(await home.svc([])).toMatchObject(exits(2, 'Usage: svc'))
    const { stderr } = await home.svc(['put', '-'])
    expect(stderr).toBe('error: - must be the only path, and needs --as NAME\nhint:  see: svc put --help\n')
  })

  it('accepts global options before and after the command, even if their values are command names', async () => {
    for (const args of [
      ['--gateway', 'http://put', 'config', '--json'],
      ['config', '--json', '--gateway', 'http://put'],
      ['--locker', 'verify', 'config', '--json', '--gateway', 'http://put'],
    ])
      expect(jsonDocument<{ settings: Settings }>((await home.svc(args)).stdout).settings.gateway?.value).toBe(
        'http://put',
      )
  })

  it('shows stack traces only with SVC_DEBUG', async () => {
    const args = ['whoami', '--wallet', '/nowhere']
    expect((await home.svc(args)).stderr).not.toContain('    at ')
    expect((await home.svc(args, { env: { SVC_DEBUG: '1' } })).stderr).toContain('    at ')
  })
})

function widestLine(text: string): number {
  return Math.max(...text.split('\n').map((line) => line.length))
}
