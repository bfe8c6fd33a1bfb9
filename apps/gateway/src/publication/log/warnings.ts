import type { Context } from '../../context.ts'

/** What the operator should know. */
export function logWarnings({ logIdentity, logWriter }: Pick<Context, 'logIdentity' | 'logWriter'>): string[] {
  const problem = logWriter.problem()
  return [
    ...(logIdentity.signer ? [] : ['LOG_KEY is not the key of the transparency log: this process does not write it']),
    ...(problem === null ? [] : [`the transparency log is not published now: ${problem}`]),
  ]
}
