// Behaviour that only a process shows: a closed pipe, a full disk, a missing home folder.

import { mkdir, readdir } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { startProcess } from '@svc/devnet/start-process'
import { describe, expect, it } from 'vitest'
import { jsonLines } from './host.ts'
import { useLockerHome } from './locker.ts'

const main = fileURLToPath(new URL('../bin/svc.mjs', import.meta.url))

const home = useLockerHome()

/** In a shell, with `output` as the redirection of its output. */
function svc(args: readonly string[], output = '', options: { env?: Record<string, string>; cwd?: string } = {}) {
  const script = `set -o pipefail; "$0" "$@" ${output}`
  const env = { ...home.env, ...options.env }
  return startProcess('bash', { ...options, args: ['-c', script, process.execPath, main, ...args], env }).ended
}

describe('when the reader of the output closes the pipe', () => {
  it('put still uploads every file and exits with 0', { tags: ['nightly'] }, async () => {
    const locker = ['-l', (await home.testbed.locker(home.signer)).receipt_id]
    const names = Array.from({ length: 250 }, (_, i) => [`${i}.txt`, `${i}`])
    const folder = await home.write('many', Object.fromEntries(names))
    expect(await svc(['put', folder, ...locker], '2>&1 | true')).toMatchObject({ code: 0 })
    expect(jsonLines((await home.ok('ls', '--json', ...locker)).stdout)).toHaveLength(250)
  })

  it('get and ls stop and exit with 0', { tags: ['nightly'] }, async () => {
    await home.ok('put', await home.write('in', { large: Buffer.alloc(5_000_000) }))
    for (const args of [['get', 'large', '-o', '-'], ['ls']])
      expect(await svc(args, '| head -c 1'), args.join(' ')).toMatchObject({ code: 0 })
  })
})

it('svc fails with a clear message when a full disk rejects its result', { tags: ['nightly'] }, async () => {
  const { code, stderr } = await svc(['whoami', '--json'], '>/dev/full')
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: the result cannot be written: ENOSPC.*\n$/)])
})

it('svc refuses to store keys in the working directory when HOME is not an absolute path', async () => {
  const cwd = home.path('cwd')
  await mkdir(cwd)
  const env = { HOME: '.', XDG_CONFIG_HOME: '', XDG_CACHE_HOME: '' }
  const { code, stderr } = await svc(['keys', 'pin', 'a'.repeat(64)], '', { cwd, env })
  expect([code, stderr]).toEqual([1, expect.stringMatching(/no home folder is set\nhint: {2}set HOME/)])
  expect(await readdir(cwd)).toEqual([])
})
