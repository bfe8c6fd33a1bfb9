// The program that starts a gateway and chains for the demo, and the Node that runs it.

import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Failure, UsageError } from '../errors.ts'
import type { Host } from '../host.ts'

/** `npm run build` puts it into the published package; a clone has none. */
const BUNDLE = fileURLToPath(new URL('../../demo/start-demo.mjs', import.meta.url))
/** The same as in scripts/node. */
const NODE = '24.21.0'
const NODE_PLATFORMS = ['linux-x64', 'linux-arm64']

const IN_A_CLONE =
  'run `npm run demo` in a clone of the repository, or run `npm start` there and add --gateway http://localhost:8402'

export interface Program {
  /** The Node that runs it. */
  node: string
  file: string
}

export async function findProgram(host: Host, isEvm: boolean, note: (text: string) => void): Promise<Program> {
  if (!existsSync(BUNDLE)) return { node: process.execPath, file: programOfClone() }
  if (isEvm) throw new UsageError('the local EVM chain is in the repository of the project only', IN_A_CLONE)
  return { node: await findNode(host, note), file: BUNDLE }
}

/** The error if the bundle did not start because npm has not installed its native part; null for any other reason. */
export function missingPart(output: string): UsageError | null {
  return /Cannot find (?:package 'litesvm'|native binding)/.test(output)
    ? new UsageError(
        'the demo needs the package litesvm, a local chain for Linux and macOS, which npm has not installed',
        `install svc without --omit=optional; ${IN_A_CLONE}`,
      )
    : null
}

function programOfClone(): string {
  try {
    return fileURLToPath(import.meta.resolve('@svc/devnet/services/start'))
  } catch {
    throw new Failure('this installation of svc lacks the services of the demo', IN_A_CLONE)
  }
}

/** The gateway runs on Node 24 or newer; `svc` itself also on older ones. */
async function findNode({ env, signal }: Host, note: (text: string) => void): Promise<string> {
  if (isNewEnough(process.version)) return process.execPath
  const platform = `${process.platform}-${process.arch}`
  const needed = `the gateway of the demo runs on Node 24 or newer; found ${process.version}`
  const advice = `install Node 24 and repeat the command; ${IN_A_CLONE}`
  if (!NODE_PLATFORMS.includes(platform)) throw new UsageError(needed, advice)
  note(`Downloading Node 24 from the npm registry (about 50 MB, once), because the one here is ${process.version}…`)
  const args = ['--yes', `--package=node-${platform}@${NODE}`, '--', 'node', '-p', 'process.execPath']
  try {
    const { stdout } = await promisify(execFile)('npx', args, { env, signal })
    return stdout.trim()
  } catch (error) {
    signal.throwIfAborted()
    throw new UsageError(`${needed}, and npx cannot get one: ${(error as Error).message}`, advice)
  }
}

function isNewEnough(version: string): boolean {
  return Number(version.slice(1).split('.')[0]) >= 24
}
