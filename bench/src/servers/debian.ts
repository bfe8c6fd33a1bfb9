// Finds programs of other projects on this machine, or unpacks them from their Debian packages without installing them.

import { execFile } from 'node:child_process'
import { access, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/svc-bench/', import.meta.url))

/** The path of a program, for example `debianProgram('nginx', '/usr/sbin/nginx')`. Logs why it returns null. */
export async function debianProgram(name: string, path: string): Promise<string | null> {
  const unpacked = join(CACHE, name, path)
  for (const place of [path, unpacked]) if (await exists(place)) return place
  try {
    const folder = join(CACHE, name)
    await mkdir(folder, { recursive: true })
    await run('apt-get', ['download', name], { cwd: folder })
    const [archive] = (await readdir(folder)).filter((entry) => entry.endsWith('.deb'))
    await run('dpkg', ['-x', join(folder, archive as string), folder]) // apt-get fails when it downloads no archive
    return unpacked
  } catch (error) {
    console.error(
      `without ${name}: it is not on this machine, and its Debian package cannot be downloaded (${firstLine(error)})`,
    )
    return null
  }
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

function firstLine(error: unknown): string {
  return String((error as Error).message).split('\n', 1)[0] as string
}
