// Checks out an earlier commit in a separate folder, with the dependencies installed here and its own packages.

import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const WORKSPACES = ['packages', 'apps', '.']

export async function checkOut(commit: string): Promise<{ folder: URL; remove(): Promise<void> }> {
  const path = join(await mkdtemp(join(tmpdir(), 'svc-earlier-')), 'checkout')
  execFileSync('git', ['worktree', 'add', '--detach', path, commit], { cwd: root, stdio: 'ignore' })
  await linkDependencies(path)
  return {
    folder: pathToFileURL(`${path}/`),
    async remove() {
      execFileSync('git', ['worktree', 'remove', '--force', path], { cwd: root })
    },
  }
}

async function linkDependencies(path: string): Promise<void> {
  const modules = join(path, 'node_modules')
  await mkdir(join(modules, '@svc'), { recursive: true })
  for (const name of await readdir(join(root, 'node_modules'))) {
    if (name !== '@svc' && name !== '.cache') await symlink(join(root, 'node_modules', name), join(modules, name))
  }
  for (const folder of WORKSPACES) {
    for (const name of await readdir(join(path, folder))) {
      const file = join(path, folder, name, 'package.json')
      if (!existsSync(file)) continue
      const manifest = JSON.parse(await readFile(file, 'utf8')) as { name: string }
      if (manifest.name?.startsWith('@svc/')) await symlink(dirname(file), join(modules, manifest.name))
    }
  }
}
