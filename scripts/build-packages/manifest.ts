import { VERSION } from '@svc/protocol/version'
import type { SourcePackage } from './published.ts'

interface PublishedManifest {
  bin?: Record<string, string>
  [field: string]: unknown
}

/**
 * Sources are named as `./src/*.ts` in the repository; what is built of them is under `lib`, so programs need no
 * launcher. Packages have no version in the repository: here they get the one they share, and ask for each other in
 * exactly that.
 */
export function publishedManifest({ manifest }: SourcePackage): PublishedManifest {
  const { description, license, bin, imports, exports, dependencies } = manifest
  return {
    name: manifest.name,
    version: VERSION,
    description,
    license,
    type: 'module',
    engines: { node: '>=20.19' },
    ...(bin ? { bin: mapped(bin, () => './lib/main.js') } : { sideEffects: false }),
    imports: imports && mapped(imports, builtConditions),
    exports: {
      ...mapped(withoutTests(exports), built),
      './package.json': './package.json',
    },
    dependencies: dependencies && stamped(dependencies),
    publishConfig: { access: 'public' },
  }
}

function stamped(dependencies: Record<string, string>): Record<string, string> {
  const entries = Object.entries(dependencies)
  return Object.fromEntries(entries.map(([name, range]) => [name, name.startsWith('@svc/') ? VERSION : range]))
}

function withoutTests(exports: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(exports).filter(([path]) => !path.startsWith('./test/')))
}

function mapped<T, U>(record: Record<string, T>, change: (value: T) => U): Record<string, U> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]))
}

function javaScript(source: string): string {
  return source.replace(/^\.\/src\/(.+)\.ts$/, './lib/$1.js')
}

function declarations(source: string): string {
  return javaScript(source).replace(/\.js$/, '.d.ts')
}

function built(source: string): { types: string; default: string } {
  return { types: declarations(source), default: javaScript(source) }
}

/** All conditions export the same functions; the default one declares their types. */
function builtConditions(conditions: Record<string, string>): Record<string, string> {
  return { types: declarations(conditions.default as string), ...mapped(conditions, javaScript) }
}
