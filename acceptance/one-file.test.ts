// @module-tag nightly

// The two files that `npm run build` packs, each installed alone in an empty folder, from the npm registry, with every
// Node of this machine. Skipped without a registry.

import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { VERSION } from '@svc/protocol/version'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildPackages, packForPeople } from '../scripts/build-packages.ts'
import { root, shell } from './install-packages.ts'
import { NODES } from './nodes.ts'

const KEY = '3b96e8a182bab9c6691d0b79b7c5399340562ef5a632956abd1277cc144acd6e'

const hasRegistry = await fetch('https://registry.npmjs.org/commander/latest').then(
  ({ ok }) => ok,
  () => false,
)

/** How npm reaches the registry on this machine. */
const CONNECTION = Object.fromEntries(
  Object.entries(process.env).filter(([name]) =>
    /^(?:NODE_EXTRA_CA_CERTS|SSL_CERT_FILE|https?_proxy|no_proxy|npm_config_registry)$/i.test(name),
  ),
)

let workFolder: string
let files: { svc: string; sdk: string }
beforeAll(async () => {
  workFolder = await mkdtemp(join(tmpdir(), 'svc-one-file-'))
  if (!hasRegistry) return
  await buildPackages(join(workFolder, 'built'))
  files = packForPeople(join(workFolder, 'built'))
})
afterAll(() => rm(workFolder, { recursive: true }))

/** An empty folder with one of the files; the home folder keeps what npm has downloaded. */
async function emptyFolder(name: string, PATH: string, file: string) {
  const folder = join(workFolder, name)
  await mkdir(folder)
  await copyFile(file, join(folder, basename(file)))
  const env = { ...CONNECTION, PATH, HOME: workFolder, npm_config_update_notifier: 'false' }
  return { folder, ...shell(folder, env) }
}

describe.skipIf(!hasRegistry).each([...NODES])('one file, on Node %s', (version, PATH) => {
  it('CLI-01 CLI-04 svc lists errors, verifies bundles and plays the demo', async () => {
    const { folder, run } = await emptyFolder(`svc-${version}`, PATH, files.svc)
    const file = `./svc-${VERSION}.tgz`
    expect(await run('npx', '--yes', file, '--version')).toBe(`${VERSION}\n`)
    expect(await run('npx', '--yes', '--package', files.svc, 'svc', '--version')).toBe(`${VERSION}\n`)
    await run('npm', 'install', file)
    const svc = (...args: string[]) => run('npx', 'svc', ...args)
    expect(await svc('--version')).toBe(`${VERSION}\n`)
    expect(await svc('errors')).toMatch(/^\w+ +4\d\d /m)
    for (const name of ['v2', 'list-resized'])
      await copyFile(join(root, `vectors/bundles/${name}.json`), join(folder, `${name}.json`))
    expect(await svc('verify', 'v2.json', '--keys', KEY)).toMatch(/^VERIFIED/)
    await expect(svc('verify', 'list-resized.json', '--keys', KEY)).rejects.toMatchObject({ code: 3 })
    const steps = (await svc('demo', '--json')).trim().split('\n')
    expect(steps.map((step) => JSON.parse(step).ok)).toEqual(Array(11).fill(true))
  })

  it('GEN-09 the SDK is plain JavaScript with types', async () => {
    const { folder, run } = await emptyFolder(`sdk-${version}`, PATH, files.sdk)
    await run('npm', 'install', `./svc-sdk-${VERSION}.tgz`, '@types/node')
    await writeFile(join(folder, 'first.mts'), PROGRAM)
    const types = ['--strict', '--skipLibCheck', 'false', '--types', 'node']
    const options = [...types, '--target', 'es2022', '--module', 'nodenext']
    expect(await run(join(root, 'node_modules/.bin/tsc'), ...options, 'first.mts')).toBe('')
    expect(await run('node', 'first.mjs')).toMatch(/^[1-9A-HJ-NP-Za-km-z]{32,44} function\n$/)
  })
})

const PROGRAM = `
import { type Client, type Locker, createClient, signerFromSeed } from '@svc/sdk'
import { solanaWallet } from '@svc/sdk/solana-wallet'

const signer = signerFromSeed(new Uint8Array(32))
const client: Client = createClient({ baseUrl: 'http://localhost:8402', signer })
const wallet = solanaWallet({ rpcUrl: 'http://localhost:8899', signer })
const buy = (): Promise<Locker> => client.buy({ intent: 'first', units: 1, wallet })
// @ts-expect-error
const misspelt = () => client.byu
console.log(signer.address, typeof buy)
`
