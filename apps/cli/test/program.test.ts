import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createProgram } from '../src/program.ts'
import { run } from '../src/run.ts'
import type { Settings } from '../src/setup/settings.ts'
import { jsonDocument, jsonLines, openHome, type TestHome, testWorld } from './world.ts'

let home: TestHome
beforeAll(async () => {
  home = await openHome()
})
afterAll(() => home.leave())

describe('the command line', () => {
  it('teaches: svc --help has every command, an example from beginning to end, and the exit codes', async () => {
    const { exitCode, stdout } = await home.svc(['--help'])
    expect(exitCode).toBe(0)
    for (const text of [
      'svc keys pin',
      'svc buy',
      'svc verify bundle.json',
      'svc delegate photos',
      'Exit codes',
      '130',
      'SVC_GATEWAY',
    ])
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
      'subscribe',
      'delegate',
      'delegations',
    ])
      expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'))
    expect(widestLine(stdout)).toBeLessThanOrEqual(100)
  })

  it('has a help for each command and what is below it, which fits', async () => {
    const { commands } = await createProgram([], testWorld({}).world, run)
    const all = commands.flatMap((command) => [
      [command.name()],
      ...command.commands.map((below) => [command.name(), below.name()]),
    ])
    for (const names of all) {
      const { exitCode, stdout } = await home.svc([...names, '--help'])
      expect([exitCode, stdout]).toEqual([0, expect.stringContaining(`Usage: svc ${names.join(' ')}`)])
      expect(widestLine(stdout), names.join(' ')).toBeLessThanOrEqual(100)
    }
    expect(commands).toHaveLength(25)
    expect(all.length).toBeGreaterThan(35)
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
    ['a mirror without a filename', ['delegate', '--mirror', 'https://a.example/b'], 'a filename'],
    ['more hours than a month has', ['delegate', '--every', '721'], 'from 1 to 720'],
    ['a statement that is no number', ['bundle', '--statement', '-1'], 'whole number'],
  ])('answers %s with exit code 2 and help', async (_, args, text) => {
    const { exitCode, stdout, stderr } = await home.svc(args)
    expect([exitCode, stdout]).toEqual([2, ''])
    expect(stderr).toContain(text)
    expect(stderr).toMatch(/Usage: svc|`svc --help` lists the commands/)
    const [told, ...others] = jsonLines((await home.svc([...args, '--json'])).stderr)
    expect([told, others]).toMatchObject([{ error: { code: 'usage', exit_code: 2, message: expect.any(String) } }, []])
  })

  it('does not bury an unknown command under the help of all others', async () => {
    expect((await home.svc(['frobnicate'])).stderr.split('\n').length).toBeLessThan(6)
  })

  it('takes global options before and behind the command, whatever words they hold', async () => {
    for (const args of [
      ['--gateway', 'http://put', 'config', '--json'],
      ['config', '--json', '--gateway', 'http://put'],
      ['--locker', 'verify', 'config', '--json', '--gateway', 'http://put'],
    ])
      expect(jsonDocument<{ settings: Settings }>((await home.svc(args)).stdout).settings.gateway?.value).toBe(
        'http://put',
      )
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

function widestLine(text: string): number {
  return Math.max(...text.split('\n').map((line) => line.length))
}
