// `npm run build`: builds the published packages as plain JavaScript with types, each in a folder under `dist`, packs the
// command line and the SDK, and builds the web pages that the gateway serves.

import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { VERSION } from '@svc/protocol/version'
import { ensurePages } from '@svc/web/build'
import { bundleDemo } from './build-packages/bundle-demo.ts'
import { compile } from './build-packages/compile.ts'
import { bundledManifest, publishedManifest } from './build-packages/manifest.ts'
import {
  type PublishedPackage,
  publishedName,
  publishedPackages,
  type SourcePackage,
} from './build-packages/published.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Returns the folders of the built packages. */
export async function buildPackages(target: string): Promise<string[]> {
  const packages = publishedPackages(root)
  mkdirSync(target, { recursive: true })
  const compiled = mkdtempSync(join(target, '.compiled-'))
  try {
    compile(root, packages, compiled)
    return await Promise.all(packages.map((source) => layOut(source, compiled, join(target, folderOf(source)))))
  } finally {
    rmSync(compiled, { recursive: true })
  }
}

async function layOut(source: PublishedPackage, compiled: string, folder: string): Promise<string> {
  rmSync(folder, { recursive: true, force: true })
  // Only modules that the published packages import are compiled; some bundled packages have few of them or only types.
  const bundled = source.bundled.filter(({ home }) => existsSync(join(compiled, home, 'src')))
  copyModules(source, compiled, folder)
  for (const inner of bundled) {
    const place = join(folder, 'node_modules', inner.manifest.name)
    copyModules(inner, compiled, place)
    writeJson(join(place, 'package.json'), bundledManifest(inner))
  }
  copyFileSync(join(root, source.home, 'README.md'), join(folder, 'README.md'))
  copyFileSync(join(root, 'LICENSE'), join(folder, 'LICENSE'))
  const optional = source.name === 'cli' ? await bundleDemo(root, join(folder, 'demo')) : {}
  const manifest = publishedManifest(source, bundled, importedPackages(folder), optional)
  writeJson(join(folder, 'package.json'), manifest)
  for (const file of Object.values(manifest.bin ?? {})) chmodSync(join(folder, file), 0o755)
  return folder
}

/** Packs the command line and the SDK, each into one file that installs alone. */
export function packForPeople(target: string): { svc: string; sdk: string } {
  for (const file of globSync('svc-*.tgz', { cwd: target })) rmSync(join(target, file))
  const pack = (folder: string, name: string) => {
    const args = ['pack', '--json', '--pack-destination', target, join(target, folder)]
    const [{ filename }] = JSON.parse(execFileSync('npm', args, { encoding: 'utf8' }))
    const file = join(target, `${name}-${VERSION}.tgz`)
    renameSync(join(target, filename), file)
    return file
  }
  return { svc: pack('svc', 'svc'), sdk: pack('sdk', 'svc-sdk') }
}

function folderOf(source: SourcePackage): string {
  return publishedName(source).slice('@svc/'.length)
}

function copyModules({ home }: SourcePackage, compiled: string, folder: string): void {
  cpSync(join(compiled, home, 'src'), join(folder, 'lib'), { recursive: true })
}

/** The names of the packages that the modules in a folder import, for code or for types. */
function importedPackages(folder: string): Set<string> {
  const names = globSync('**/*.{js,d.ts}', { cwd: folder }).flatMap((file) => {
    const imports = readFileSync(join(folder, file), 'utf8').matchAll(/(?:from|import)[\s(]*['"]([^'".][^'"]*)['"]/g)
    return [...imports].map(([, path]) => /^(?:@[^/]+\/)?[^/]+/.exec(path as string)?.[0] ?? '')
  })
  return new Set(names)
}

function writeJson(file: string, content: object): void {
  writeFileSync(file, `${JSON.stringify(content, null, 2)}\n`)
}

if (import.meta.main) {
  for (const folder of await buildPackages(join(root, 'dist'))) console.log(relative(root, folder))
  const { svc, sdk } = packForPeople(join(root, 'dist'))
  if (!(await ensurePages(console.log))) process.exit(1)
  console.log(`
The command line and the SDK, each in one file:

  ${svc}
  ${sdk}

Try, in an empty folder:

  npx --package ${svc} svc demo
  npm install ${sdk}
`)
}
