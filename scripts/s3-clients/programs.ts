// Finds the clients' programs on this machine or installs them from Debian.

import { spawnSync } from 'node:child_process'

export interface Program {
  /** The name of the client and of its command. */
  name: string
  /** The Debian package. */
  package: string
  /** Prints the version, and succeeds only if the program is installed. */
  version: readonly [command: string, ...args: string[]]
}

/** Returns null if the program is available, else the reason. */
export function install(program: Program): string | null {
  if (isInstalled(program)) return null
  if (process.getuid?.() !== 0 || spawnSync('which', ['apt-get']).status !== 0) return 'it is not installed'
  console.log(`Installing ${program.package}…`)
  const apt = (...args: string[]) => spawnSync('apt-get', args, { encoding: 'utf8' })
  apt('update', '-qq')
  const { status, stderr } = apt('install', '-y', '-qq', '--no-install-recommends', program.package)
  if (status === 0 && isInstalled(program)) return null
  return `the Debian package ${program.package} cannot be installed (${stderr.trim().split('\n').at(-1)})`
}

function isInstalled({ version: [command, ...args] }: Program): boolean {
  return spawnSync(command, args).status === 0
}

export function versionOf({ version: [command, ...args] }: Program): string {
  const { stdout } = spawnSync(command, args, { encoding: 'utf8' })
  return /\d+(\.\d+)+/.exec(stdout)?.[0] ?? stdout.trim()
}
