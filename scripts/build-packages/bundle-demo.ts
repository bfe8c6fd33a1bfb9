import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { type OutputChunk, type Plugin, writeBundle } from '@svc/devnet/bundling/bundler'

/** The only package outside the bundle that the demo loads. It has native code. */
export const DEMO_CHAIN = 'litesvm'

/** Writes what `svc demo` starts into a folder, and returns what npm must install for it, by version. */
export async function bundleDemo(root: string, folder: string): Promise<Record<string, string>> {
  const chunks = await writeBundle({
    input: { 'start-demo': join(root, 'packages/devnet/src/services/start-demo.ts') },
    dir: folder,
    urlOf: () => PLACE,
    pathOf: () => 'import.meta.filename',
    plugins: [bundleThreads()],
    sourcemap: false,
  })
  writeFileSync(join(folder, 'LICENSES.txt'), licensesOf(chunks))
  const { dependencies } = JSON.parse(readFileSync(join(root, 'packages/devnet/package.json'), 'utf8'))
  return { [DEMO_CHAIN]: dependencies[DEMO_CHAIN] }
}

/** Not `import.meta.url`, which the bundler replaces by the place of the source. */
const PLACE = 'import.meta["url"]'

/** Puts threads, which code names as `new URL('./thread.ts', import.meta.url)`, beside the chunk that starts them. */
function bundleThreads(): Plugin {
  const added = new Set<string>()
  return {
    name: 'bundle-threads',
    transform(code, id) {
      if (id.includes('/node_modules/')) return null
      return code.replaceAll(/new URL\('([^']+\.ts)', import\.meta\.url\)/g, (_, path: string) => {
        const fileName = `${basename(path, '.ts')}.mjs`
        if (!added.has(fileName)) this.emitFile({ type: 'chunk', id: resolve(dirname(id), path), fileName })
        added.add(fileName)
        return `new URL('./${fileName}', ${PLACE})`
      })
    },
  }
}

/** The licences of all packages in the bundle, which most of them require in copies. */
function licensesOf(chunks: readonly OutputChunk[]): string {
  const ids = chunks.flatMap(({ moduleIds }) => moduleIds)
  const folders = new Set(ids.flatMap((id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []))
  return [...folders]
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .sort()
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice)/i.test(file))
      const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim())
      return [`${name} ${version}: ${license}`, ...texts].join('\n\n')
    })
    .join(`\n\n${'-'.repeat(80)}\n\n`)
}
