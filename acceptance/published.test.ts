// The published packages in an empty project, with plain Node and npm.

import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { openMarket } from '@svc/sdk/test/market'
import { build, type Rolldown } from 'vite'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type EmptyProject, installPackages, modules, readmeProgram, root, runProgram } from './install-packages.ts'

const KEY = '3b96e8a182bab9c6691d0b79b7c5399340562ef5a632956abd1277cc144acd6e'
const SECRET = /PRIVATE KEY|_authToken|\b(?:npm|ghp)_\w{36}|\bAKIA[0-9A-Z]{16}\b/
/** A bundle that includes third-party code. */
const DEMO = /^demo\/(?:[\w-]+\.mjs|LICENSES\.txt)$/
const SOURCE_IMPORT = /(?:from|import)[\s(]*['"][^'"]*(?:\.ts|testbed[^'"]*|\/test-[^'"]*)['"]/

let workFolder: string
let project: EmptyProject
beforeAll(async () => {
  workFolder = await mkdtemp(join(tmpdir(), 'svc-published-'))
  project = await installPackages(workFolder)
  for (const [name, file] of Object.entries({ good: 'v2', tampered: 'list-resized' }))
    await copyFile(join(root, `vectors/bundles/${file}.json`), join(project.folder, `${name}.json`))
})
afterAll(() => rm(workFolder, { recursive: true }))

const svc = (...args: string[]) => project.run('node_modules/.bin/svc', ...args)
const manifestOf = async (name: string) => JSON.parse(await project.read(name, 'package.json'))
const kB = (bytes: number) => bytes / 1000

/** Every file that this part of package.json names. */
function targets(part: unknown): string[] {
  return typeof part === 'string' ? [part] : Object.values(part ?? {}).flatMap(targets)
}

describe('the packed packages', () => {
  it('are small and contain every file that package.json names', async () => {
    console.log(project.packed.map(({ name, size }) => `${name} ${kB(size).toFixed(1)} kB`).join(', '))
    for (const { name, size, files } of project.packed) {
      expect(kB(size), name).toBeLessThan(name === '@svc/svc' ? 1700 : 400)
      const {
        private: isPrivate,
        devDependencies,
        description,
        license,
        exports,
        imports,
        bin,
      } = await manifestOf(name)
      expect({ isPrivate, devDependencies, description, license }).toEqual({
        description: expect.any(String),
        license: 'Apache-2.0',
      })
      for (const target of targets([exports, imports, bin])) {
        const [before, after] = target.slice('./'.length).split('*') as [string, string?]
        const isMeant = (path: string) =>
          after === undefined ? path === before : path.startsWith(before) && path.endsWith(after)
        expect(files.filter(({ path }) => isMeant(path)).length, `${name} ${target}`).toBeGreaterThan(0)
      }
    }
  })

  it('contain JavaScript and types, but no tests, sources, secrets or local paths', { tags: ['nightly'] }, async () => {
    for (const { name, files } of project.packed) {
      const paths = files.map(({ path }) => path).filter((path) => !DEMO.test(path))
      for (const path of paths) {
        expect(path).toMatch(
          /^(?:node_modules\/@svc\/\w+\/)?(?:package\.json|README\.md|LICENSE|lib\/.+\.js|lib\/.+\.d\.ts)$/,
        )
        expect(path).not.toMatch(/\.test\.|(?:^|\/)test-/)
        if (path.endsWith('.js')) expect(paths).toContain(path.replace(/\.js$/, '.d.ts'))
        const content = await project.read(name, path)
        for (const folder of [root, workFolder]) expect(content, path).not.toContain(folder)
        for (const pattern of [SECRET, SOURCE_IMPORT]) expect(content, path).not.toMatch(pattern)
        if (path === 'README.md') expect(content, 'a link that leads nowhere').not.toMatch(/\]\((?!https?:)/)
      }
    }
  })

  it('load module by module with their declared dependencies', { tags: ['nightly'] }, async () => {
    const program = (await modules(project)).map((name) => `await import('${name}')`)
    expect(program.length).toBeGreaterThan(120)
    await runProgram(project, 'load.js', program.join('\n'))
  })
})

describe('@svc/verifier, @svc/protocol and @svc/api', () => {
  it('CLI-02 CLI-04 the program of the README accepts the good bundle and rejects the tampered one', {
    tags: ['nightly'],
  }, async () => {
    const program = await readmeProgram(project, '@svc/verifier')
    const good = await runProgram(project, 'good.js', program.replace('bundle.json', 'good.json'))
    expect(good).toMatch(/^signature_valid passed/m)
    expect(good).toMatch(/^key_pinned passed/m)
    const tampered = runProgram(project, 'tampered.js', program.replace('bundle.json', 'tampered.json'))
    await expect(tampered).rejects.toMatchObject({
      code: 3,
      message: expect.stringMatching(/^merkle_root_matches failed/m),
    })
  })

  it('MERK-04 the programs of the READMEs commit to files and list the whole interface', {
    tags: ['nightly'],
  }, async () => {
    expect(await runProgram(project, 'root.js', await readmeProgram(project, '@svc/protocol'))).toMatch(
      /^[0-9a-f]{64}\n$/,
    )
    expect(await runProgram(project, 'interface.js', await readmeProgram(project, '@svc/api'))).toMatch(
      /^GET \/v1\/keys .*\n3\.1\.\d\n$/ms,
    )
  })

  it('CLI-02 the verifier for browsers is small, complete and free of Node modules', {
    tags: ['nightly'],
  }, async () => {
    const parts = ['@svc/verifier', '@svc/verifier/pinned-keys', '@svc/verifier/verify-chain']
    await project.write('browser.js', parts.map((name) => `export * from '${name}'\n`).join(''))
    const input = join(project.folder, 'browser.js')
    const { output } = (await build({
      configFile: false,
      root: project.folder,
      logLevel: 'warn',
      build: { write: false, rolldownOptions: { input, preserveEntrySignatures: 'strict' } },
    })) as Rolldown.RolldownOutput
    expect(output).toHaveLength(1)
    const { code } = output[0]
    const [size, gzipped] = [kB(Buffer.byteLength(code)), kB(gzipSync(code).length)]
    console.log(`the verifier in a browser: ${size.toFixed(1)} kB, ${gzipped.toFixed(1)} kB gzipped`)
    expect(size).toBeLessThan(105)
    expect(gzipped).toBeLessThan(39)
    expect(code).not.toMatch(/\bnode:|\brequire\(|\bimport\b|\bprocess\.|\bBuffer\b|browser-external/)
    const { verifyBundle } = await import(`data:text/javascript;base64,${Buffer.from(code).toString('base64')}`)
    const verify = async (file: string) => verifyBundle([await readFile(join(project.folder, file))])
    expect(await verify('good.json')).toMatchObject({ refused: null, failed: [] })
    expect(await verify('tampered.json')).toMatchObject({
      failed: ['merkle_root_matches', 'envelope_binds_commitment'],
    })
  })
})

describe('@svc/sdk and @svc/svc', () => {
  it('GEN-09 ATT-06 the program of the README buys, uploads and attests, and svc verifies the result', {
    tags: ['nightly'],
  }, async () => {
    const market = await openMarket()
    onTestFinished(() => market.close())
    await project.write('README.md', 'to be kept')
    const program = (await readmeProgram(project, '@svc/sdk'))
      .replace('http://localhost:8402', market.gateway.url)
      .replace('http://localhost:8899', market.chains.primary.url)
    const evidence = `
      import { createWriteStream } from 'node:fs'
      import { Writable } from 'node:stream'
      await client.bundle(locker.receipt_id, Writable.toWeb(createWriteStream('bought.json')))`
    expect(await runProgram(project, 'buy.js', program + evidence)).toMatch(
      /^locker_[0-9a-f]{12} sha256:[0-9a-f]{64}\n$/,
    )
    expect(await svc('verify', 'bought.json', '--keys', market.key)).toContain('✓ key_pinned')
  })

  it('CLI-01 CLI-04 svc verifies offline and reports the result by its exit code', { tags: ['nightly'] }, async () => {
    const { version } = await manifestOf('@svc/svc')
    expect(await project.run('npx', 'svc', '--version')).toBe(`${version}\n`)
    expect(await svc('verify', 'good.json', '--keys', KEY)).toContain('✓ key_pinned')
    await expect(svc('verify', 'tampered.json', '--keys', KEY)).rejects.toMatchObject({ code: 3 })
  })

  it('GEN-09 CLI-04 svc demo runs every step on its own chain', { tags: ['nightly'] }, async () => {
    const steps = (await svc('demo', '--json')).trim().split('\n')
    expect(steps.map((step) => JSON.parse(step).ok)).toEqual(Array(11).fill(true))
  })

  it('svc demo fetches the Node that the repository installs', async () => {
    const { optionalDependencies } = JSON.parse(await readFile(join(root, 'scripts/node/package.json'), 'utf8'))
    const [version] = Object.values(optionalDependencies)
    expect(await project.read('@svc/svc', 'lib/demo/program.js')).toContain(`'${version}'`)
  })

  it('svc demo --evm names what is missing from the package', async () => {
    await expect(svc('demo', '--evm')).rejects.toMatchObject({
      code: 2,
      message: expect.stringContaining('npm run demo'),
    })
  })
})

describe('svc mcp', () => {
  it.each([
    ['svc mcp', ['svc', 'mcp']],
    ['svc-mcp', ['svc-mcp']],
  ] as const)(
    'answers as %s over stdio and lists its tools',
    { tags: ['nightly'] },
    async (_name, [command, ...args]) => {
      const { stdin, log, ended } = project.start(`node_modules/.bin/${command}`, ...args)
      const say = (message: object) => stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
      const clientInfo = { name: 'project', version: '1' }
      say({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } })
      say({ method: 'notifications/initialized' })
      say({ id: 2, method: 'tools/list' })
      stdin.end()
      await ended
      const answers = new Map(log().map(({ id, result }) => [id, result as { tools: { name: string }[] }]))
      const { version } = await manifestOf('@svc/svc')
      expect(answers.get(1)).toMatchObject({ serverInfo: { name: 'svc-mcp', version } })
      const names = answers.get(2)?.tools.map(({ name }) => name)
      expect(names).toEqual(expect.arrayContaining(['quote', 'buy', 'put_file', 'attest', 'verify']))
    },
  )
})

const TYPED_PROGRAM = `
import { keys } from '@svc/api/info'
import { type Client, type Wallet, createClient, signerFromSeed } from '@svc/sdk'
import { type Verification, verifyBundle } from '@svc/verifier'

declare const wallet: Wallet
const signer = signerFromSeed(new Uint8Array(32))
const client: Client = createClient({ baseUrl: 'https://gateway.example', signer })
const locker = await client.buy({ intent: 'a', units: 1, wallet })
export const id: string = locker.locker_id
// @ts-expect-error
export const count: number = locker.locker_id
const { body } = await client.call(keys)
// @ts-expect-error
body.nothing_of_this_name
const verification: Verification = await verifyBundle([new Uint8Array()])
// @ts-expect-error: it may have been refused
verification.facts
`

describe('types', () => {
  const STRICT = [
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    'false',
    '--skipDefaultLibCheck',
    '--target',
    'es2022',
    '--singleThreaded',
  ]

  async function compile(files: Record<string, string>, ...options: string[]): Promise<void> {
    for (const [name, content] of Object.entries(files)) await project.write(name, content)
    const printed = project.run(join(root, 'node_modules/.bin/tsc'), ...STRICT, ...options, ...Object.keys(files))
    expect(await printed).toBe('')
  }

  it('compile with a bundler, in a project without the types of Node', { tags: ['nightly'] }, () =>
    compile({ 'page.ts': TYPED_PROGRAM }, '--module', 'esnext', '--moduleResolution', 'bundler', '--types', ''),
  )

  it('compile as Node resolves them, in every module except the commands', { tags: ['nightly'] }, async () => {
    const libraries = (await modules(project)).filter((name) => !name.startsWith('@svc/svc/'))
    const all = libraries.map((name, index) => `export type * as m${index} from '${name}'`).join('\n')
    const nodeTypes = ['--typeRoots', join(root, 'node_modules/@types'), '--types', 'node']
    await compile({ 'program.ts': TYPED_PROGRAM, 'all.ts': all }, '--module', 'nodenext', ...nodeTypes)
  })
})
