// `npm run build`: builds the published packages as plain JavaScript with types, each in a folder under `dist`, and the
// web pages that the gateway serves.

import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ensurePages } from '@svc/web/build'
import { compile } from './build-packages/compile.ts'
import { bundledManifest, publishedManifest } from './build-packages/manifest.ts'
import { type PublishedPackage, publishedPackages, type SourcePackage } from './build-packages/published.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Returns the folders of the built packages. */
export function buildPackages(target: string): string[] {
  const packages = publishedPackages(root)
  mkdirSync(target, { recursive: true })
  const compiled = mkdtempSync(join(target, '.compiled-'))
  try {
    compile(root, packages, compiled)
    return packages.map((source) => layOut(source, compiled, join(target, source.name)))
  } finally {
    rmSync(compiled, { recursive: true })
  }
}

function layOut(source: PublishedPackage, compiled: string, folder: string): string {
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
  const manifest = publishedManifest(source, bundled, importedPackages(folder))
  writeJson(join(folder, 'package.json'), manifest)
  for (const file of Object.values(manifest.bin ?? {})) chmodSync(join(folder, file), 0o755)
  return folder
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
  for (const folder of buildPackages(join(root, 'dist'))) console.log(folder)
  if (!(await ensurePages(console.log))) process.exit(1)
}
