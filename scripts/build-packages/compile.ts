import { spawnSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PublishedPackage, SourcePackage } from './published.ts'

/**
 * Compiles all packages in one run, because they share most sources, and the workspace modules that they import. Each
 * compiled module is written to `folder` under its path in the repository.
 */
export function compile(root: string, packages: readonly PublishedPackage[], folder: string): void {
  const config = join(folder, 'tsconfig.json')
  writeFileSync(config, JSON.stringify(compilerConfig(root, packages, folder)))
  const tsc = join(root, 'node_modules/.bin/tsc')
  const { status, stdout, stderr } = spawnSync(tsc, ['-p', config, '--singleThreaded'], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the packages do not compile:\n${stdout}${stderr}`)
  for (const file of globSync('**/*.d.ts', { cwd: folder })) importJavaScript(join(folder, file))
}

function compilerConfig(root: string, packages: readonly PublishedPackage[], folder: string): object {
  return {
    extends: join(root, 'tsconfig.base.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      rewriteRelativeImportExtensions: true,
      rootDir: root,
      outDir: folder,
      typeRoots: [join(root, 'node_modules/@types')],
      types: ['node'],
      // The compiler skips modules that it finds through `node_modules`.
      paths: Object.assign({}, ...packages.flatMap(({ bundled }) => bundled.map((inner) => pathsOf(root, inner)))),
      // Node 20 supports this.
      target: 'ES2023',
      lib: ['ES2023', 'ES2024.String', 'DOM'],
    },
    include: packages.map(({ home }) => join(root, home, 'src')),
  }
}

function pathsOf(root: string, { home, manifest }: SourcePackage): Record<string, string[]> {
  const entries = Object.entries(manifest.exports)
  return Object.fromEntries(entries.map(([path, file]) => [manifest.name + path.slice(1), [join(root, home, file)]]))
}

/** Declarations import `.ts`, which the compiler rewrites in JavaScript only. */
function importJavaScript(file: string): void {
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replaceAll(/((?:from |import\(|import )(['"])\.{1,2}\/[^'"]*)\.ts\2/g, '$1.js$2'))
}
