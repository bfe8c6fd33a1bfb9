import type { LogContext } from './room.ts'

export function logWarnings({ identity, writer }: Pick<LogContext, 'identity' | 'writer'>): string[] {
  const problem = writer.problem()
  return [
    ...(identity.signer ? [] : ['LOG_KEY is not the key of the transparency log: this process does not write it']),
    ...(problem === null ? [] : [`the transparency log is not published now: ${problem}`]),
  ]
}
