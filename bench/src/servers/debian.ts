// Programs of other projects, from this machine or else unpacked from their Debian packages. Nothing is installed.

import { execFile } from 'node:child_process'
import { access, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const CACHE = fileURLToPath(new URL('../../../node_modules/.cache/svc-bench/', import.meta.url))

/** The path of a program, for example `debianProgram('nginx', '/usr/sbin/nginx')`; null, with a note, if it cannot be had. */
export async function debianProgram(name: string, path: string): Promise<string | null> {
  const unpacked = join(CACHE, name, path)
  for (const place of [path, unpacked]) if (await exists(place)) return place
  try {
    const folder = join(CACHE, name)
    await mkdir(folder, { recursive: true })
    await run('apt-get', ['download', name], { cwd: folder })
    const [archive] = (await readdir(folder)).filter((entry) => entry.endsWith('.deb'))
    await run('dpkg', ['-x', join(folder, archive as string), folder]) // apt-get fails if it downloads none
    return unpacked
  } catch (error) {
    console.error(
      `without ${name}: it is not on this machine, and its Debian package cannot be had (${firstLine(error)})`,
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
