// Behaviour that only a process shows: a closed pipe, a full disk, a missing home folder.

import { type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, open, readdir } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { programEnvironment } from '@svc/devnet/program-environment'
import { describe, expect, it } from 'vitest'
import { useLockerHome } from './locker.ts'
import { jsonLines } from './world.ts'

const main = fileURLToPath(new URL('../bin/svc.mjs', import.meta.url))

const home = useLockerHome()

interface StartOptions {
  env?: Record<string, string>
  stdio?: StdioOptions
  cwd?: string
}

function start(args: readonly string[], { env = {}, stdio = ['ignore', 'pipe', 'pipe'], cwd }: StartOptions = {}) {
  return spawn(process.execPath, [main, ...args], {
    env: programEnvironment({ ...home.env, ...env }),
    stdio,
    ...(cwd && { cwd }),
  })
}

describe('when the reader of the output closes the pipe', () => {
  it('put still uploads every file and exits with 0', { tags: ['nightly'] }, async () => {
    const locker = ['-l', (await home.house.locker(home.signer)).receipt_id]
    const names = Array.from({ length: 250 }, (_, i) => [`${i}.txt`, `${i}`])
    const child = start(['put', await home.write('many', Object.fromEntries(names)), ...locker])
    child.stdout?.destroy()
    child.stderr?.destroy()
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(jsonLines((await home.ok('ls', '--json', ...locker)).stdout)).toHaveLength(250)
  })

  it('get and ls stop and exit with 0', { tags: ['nightly'] }, async () => {
    await home.ok('put', await home.write('in', { large: Buffer.alloc(5_000_000) }))
    for (const args of [['get', 'large', '-o', '-'], ['ls']]) {
      const child = start(args)
      await once(child.stdout as Readable, 'readable')
      child.stdout?.destroy()
      expect(await once(child, 'exit'), args.join(' ')).toEqual([0, null])
    }
  })
})

it('svc fails with a clear message when a full disk rejects its result', { tags: ['nightly'] }, async () => {
  const full = await open('/dev/full', 'w')
  const child = start(['whoami', '--json'], { stdio: ['ignore', full.fd, 'pipe'] })
  const errors = text(child.stderr as Readable)
  expect(await once(child, 'exit')).toEqual([1, null])
  expect(await errors).toMatch(/^error: the result cannot be written: ENOSPC.*\n$/)
  await full.close()
})

it('svc refuses to store keys in the working directory when HOME is not an absolute path', async () => {
  const cwd = home.path('cwd')
  await mkdir(cwd)
  const child = start(['keys', 'pin', 'a'.repeat(64)], {
    cwd,
    env: { HOME: '.', XDG_CONFIG_HOME: '', XDG_CACHE_HOME: '' },
  })
  const errors = text(child.stderr as Readable)
  expect(await once(child, 'exit')).toEqual([1, null])
  expect(await errors).toMatch(/where your home is\nhint: {2}set HOME/)
  expect(await readdir(cwd)).toEqual([])
})
