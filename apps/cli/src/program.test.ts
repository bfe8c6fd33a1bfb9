import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createProgram } from './program.ts'
import { jsonLines, openHome, type TestHome, testWorld } from './test-world.ts'

let home: TestHome
beforeAll(async () => {
  home = await openHome()
})
afterAll(() => home.leave())

describe('the command line', () => {
  it('teaches: svc --help has every command, an example from beginning to end, and the exit codes', async () => {
    const { exitCode, stdout } = await home.svc(['--help'])
    expect(exitCode).toBe(0)
    for (const text of ['svc keys pin', 'svc buy', 'svc verify bundle.json', 'Exit codes', '130', 'SVC_GATEWAY'])
      expect(stdout).toContain(text)
    for (const name of [
      'quote',
      'buy',
      'provision',
      'receipt',
      'lockers',
      'put',
      'get',
      'ls',
      'rm',
      'url',
      'operators',
    ])
      expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'))
    for (const name of [
      'attest',
      'push',
      'statements',
      'proof',
      'bundle',
      'verify',
      'keys',
      'config',
      'whoami',
      'demo',
    ])
      expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'))
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(110)
  })

  it('has a help for each command', async () => {
    const { commands } = await createProgram([], testWorld({}).world)
    for (const command of commands) {
      const { exitCode, stdout } = await home.svc([command.name(), '--help'])
      expect([exitCode, stdout]).toEqual([0, expect.stringContaining(`Usage: svc ${command.name()}`)])
    }
    expect(commands).toHaveLength(22)
  })

  it.each([
    ['no command', [], 'Usage: svc'],
    ['an unknown command', ['frobnicate'], "unknown command 'frobnicate'"],
    ['a slip', ['verfy'], 'Did you mean verify?'],
    ['an unknown option', ['quote', '--colour'], "unknown option '--colour'"],
    ['a missing argument', ['put'], "missing required argument 'path'"],
    ['too many arguments', ['whoami', 'really'], 'too many arguments'],
    ['no number', ['buy', '--units', '1.5'], 'whole number'],
    ['an unknown provider', ['quote', '--provider', 'floppy'], 'Allowed choices'],
    ['half a day too much', ['url', 'a', '--ttl', '2000'], 'from 1 to 1440'],
    ['a statement that is no number', ['bundle', '--statement', '-1'], 'whole number'],
  ])('answers %s with exit code 2 and help', async (_, args, text) => {
    const { exitCode, stdout, stderr } = await home.svc(args)
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain(text)
    expect(stderr).toContain('Usage: svc')
  })

  it('takes global options before and behind the command, whatever words they hold', async () => {
    for (const args of [
      ['--gateway', 'http://put', 'config', '--json'],
      ['config', '--json', '--gateway', 'http://put'],
      ['--locker', 'verify', 'config', '--json', '--gateway', 'http://put'],
    ])
      expect(jsonLines((await home.svc(args)).stdout)[0].settings.gateway.value).toBe('http://put')
  })

  it('tells programs of errors in JSON, on stderr', async () => {
    const { exitCode, stdout, stderr } = await home.svc(['ls', '--json'])
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(jsonLines(stderr)).toEqual([
      {
        error: { code: 'usage', message: expect.stringContaining('no locker'), hint: expect.any(String), exit_code: 2 },
      },
    ])
  })

  it('shows where an error comes from only when asked', async () => {
    const args = ['whoami', '--wallet', '/nowhere']
    expect((await home.svc(args)).stderr).not.toContain('    at ')
    expect((await home.svc(args, { env: { SVC_DEBUG: '1' } })).stderr).toContain('    at ')
  })
})
