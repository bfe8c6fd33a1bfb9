// Builds and packs the published packages, and installs them in an empty project outside the repository.

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { findPackageJSON } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { type StartedProcess, startProcess } from '@svc/devnet/start-process'
import { DEMO_CHAIN } from '../scripts/build-packages/bundle-demo.ts'
import { publishedPackages } from '../scripts/build-packages/published.ts'
import { buildPackages } from '../scripts/build-packages.ts'

export const root = fileURLToPath(new URL('..', import.meta.url))

interface Packed {
  name: string
  filename: string
  /** The size of the tarball in bytes. */
  size: number
  files: { path: string }[]
}

export interface EmptyProject {
  /** Where the packages are installed. */
  folder: string
  packed: Packed[]
  /** Reads a file of an installed package. */
  read(name: string, path: string): Promise<string>
  write(path: string, content: string): Promise<void>
  start(command: string, ...args: string[]): StartedProcess
  /** Returns the output; throws on failure, with the exit code as `code`. */
  run(command: string, ...args: string[]): Promise<string>
}

export async function installPackages(workFolder: string): Promise<EmptyProject> {
  const folder = join(workFolder, 'project')
  await mkdir(folder)
  const { start, run } = shell(folder)
  const built = await buildPackages(join(workFolder, 'built'))
  const packed: Packed[] = JSON.parse(await run('npm', 'pack', '--json', '--pack-destination', workFolder, ...built))
  const dependencies = Object.fromEntries(
    packed.map(({ name, filename }) => [name, `file:${join(workFolder, filename)}`]),
  )
  const manifest = { private: true, type: 'module', dependencies, overrides: linkedDependencies() }
  const write = (path: string, content: string) => writeFile(join(folder, path), content)
  await write('package.json', JSON.stringify(manifest))
  await run('npm', 'install', '--offline', '--no-audit', '--no-fund')
  return {
    folder,
    packed,
    read: (...path) => readFile(join(folder, 'node_modules', ...path), 'utf8'),
    write,
    start,
    run,
  }
}

/** Links third-party dependencies from the repository, so that no registry is needed. */
function linkedDependencies(): Record<string, string> {
  const links = publishedPackages(root)
    .flatMap((source) => [source, ...source.bundled])
    .flatMap(({ home, manifest }) =>
      Object.keys(manifest.dependencies ?? {})
        .filter((name) => !name.startsWith('@svc/'))
        .map((name) => linkedDependency(name, home)),
    )
  return Object.fromEntries([...links, linkedDependency(DEMO_CHAIN, 'packages/devnet')])
}

function linkedDependency(name: string, home: string): [name: string, link: string] {
  const file = findPackageJSON(name, pathToFileURL(join(root, home, 'package.json')))
  if (!file) throw new Error(`${name} is not installed`)
  return [name, `file:${dirname(file)}`]
}

type Environment = Readonly<Record<string, string | undefined>>

/** Runs commands without our environment variables and with an empty home folder. */
export function shell(folder: string, env: Environment = {}): Pick<EmptyProject, 'start' | 'run'> {
  const start = (command: string, ...args: string[]) =>
    startProcess(command, { args, cwd: folder, env: { HOME: folder, ...env } })

  async function run(command: string, ...args: string[]): Promise<string> {
    const { stdin, ended } = start(command, ...args)
    stdin.end()
    const { code, stdout, stderr } = await ended
    if (code === 0) return stdout
    throw Object.assign(new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`), { code })
  }

  return { start, run }
}

export async function runProgram({ write, run }: EmptyProject, name: string, program: string): Promise<string> {
  await write(name, program)
  return run('node', name)
}

/** The first program in the README of a package. */
export async function readmeProgram({ read }: EmptyProject, name: string): Promise<string> {
  const program = /```js\n(.*?)```/s.exec(await read(name, 'README.md'))?.[1]
  if (!program) throw new Error(`no program in the README of ${name}`)
  return program
}

/** The modules that packages export, such as `@svc/sdk/node`, except commands, which would run. */
export async function modules({ packed, read }: EmptyProject): Promise<string[]> {
  const lists = packed.map(async ({ name, files }) => {
    const { exports } = JSON.parse(await read(name, 'package.json')) as { exports: Record<string, unknown> }
    const paths = Object.keys(exports).flatMap((path) => (path === './*' ? sourcesOf(files) : [path]))
    return paths.filter((path) => path !== './package.json').map((path) => name + path.slice(1))
  })
  return (await Promise.all(lists)).flat()
}

function sourcesOf(files: Packed['files']): string[] {
  return files
    .filter(({ path }) => /^lib\/.+\.js$/.test(path) && !path.startsWith('lib/bin/'))
    .map(({ path }) => path.replace(/^lib\/(.+)\.js$/, './$1'))
}
