// Runs once before all tests. Tests flush thousands of small files, which takes milliseconds each on a disk. If there is
// enough memory, their temporary files are stored there.

import { spawn, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, statfsSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'

const MEMORY = '/dev/shm'
/** Several times the space that the tests use concurrently. */
const ENOUGH_BYTES = 8e9

export default function keepFilesInMemory(): void {
  if (!existsSync(MEMORY) || !hasSpace()) return
  const folder = mkdtempSync(`${MEMORY}/svc-test-`)
  // The mode of /tmp: PostgreSQL runs as another account, and creates and removes its own folder below this one.
  chmodSync(folder, 0o1777)
  removeAtTheEnd(folder)
  if (canRunPrograms(folder)) process.env.TMPDIR = folder
}

function hasSpace(): boolean {
  const { bavail, bsize } = statfsSync(MEMORY)
  return bavail * bsize >= ENOUGH_BYTES
}

/** The shell's standard input closes when this process ends in any way; programs started in the folder end then, too. */
function removeAtTheEnd(folder: string): void {
  const script = 'cat; until rm -rf "$0"; do sleep 1; done'
  const shell = spawn('sh', ['-c', script, folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  shell.unref()
  // A pipe is a socket, although the type does not say so.
  const input = shell.stdin as Socket
  input.unref()
}

function canRunPrograms(folder: string): boolean {
  const program = `${folder}/trial`
  writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
  return spawnSync(program).status === 0
}
