// rclone on a folder, over WebDAV.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServerProcess } from '../server-process.ts'
import { debianProgram } from './debian.ts'
import { startNative } from './native.ts'

/** Returns null and logs the reason when rclone is unavailable. */
export async function startRclone(): Promise<ServerProcess | null> {
  const program = await debianProgram('rclone', '/usr/bin/rclone')
  if (!program) return null
  const folder = await mkdtemp(join(tmpdir(), 'svc-rclone-'))
  const argumentsFor = async (port: number) => [
    ...['serve', 'webdav', folder, '--addr', `127.0.0.1:${port}`],
    ...['--config', '', '--log-level', 'ERROR'],
  ]
  return startNative(program, argumentsFor, () => rm(folder, { recursive: true }))
}
