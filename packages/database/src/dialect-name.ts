export type DialectName = 'sqlite' | 'postgres'

export function dialectNameOf(url: string): DialectName {
  if (url.startsWith('sqlite:')) return 'sqlite'
  if (/^postgres(ql)?:\/\//.test(url)) return 'postgres'
  // The rest of the url may hold a password.
  throw new Error(`a database url begins with "sqlite:" or "postgres://", not with "${url.split(':')[0]}:"`)
}
