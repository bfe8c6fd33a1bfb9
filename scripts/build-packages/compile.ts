import { spawnSync } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SourcePackage } from './published.ts'

/** All at once, since they share most of what has to be read. Each lands in `folder`, under the path it has here. */
export function compile(root: string, packages: readonly SourcePackage[], folder: string): void {
  const config = join(folder, 'tsconfig.json')
  writeFileSync(config, JSON.stringify(compilerConfig(root, packages, folder)))
  const tsc = join(root, 'node_modules/.bin/tsc')
  const { status, stdout, stderr } = spawnSync(tsc, ['-p', config, '--singleThreaded'], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the packages do not compile:\n${stdout}${stderr}`)
  for (const file of globSync('**/*.d.ts', { cwd: folder })) importJavaScript(join(folder, file))
}

function compilerConfig(root: string, packages: readonly SourcePackage[], folder: string): object {
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
      // No more than Node 20 has.
      target: 'ES2023',
      lib: ['ES2023', 'ES2024.String', 'DOM'],
    },
    include: packages.map(({ home }) => join(root, home, 'src')),
  }
}

/** The compiler does this in JavaScript, and not in declarations. */
function importJavaScript(file: string): void {
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replaceAll(/((?:from |import\(|import )(['"])\.{1,2}\/[^'"]*)\.ts\2/g, '$1.js$2'))
}
