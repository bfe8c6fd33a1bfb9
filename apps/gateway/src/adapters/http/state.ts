import type { Context } from '../../context.ts'
import { createEgress, type Egress } from './egress.ts'
import { createTokenOpener, type OpenToken } from './open-token.ts'

interface HttpState {
  openToken: OpenToken
  egress: Egress
}

declare module '../../context.ts' {
  interface Context extends HttpState {}
}

export function openHttp(context: Context): HttpState {
  return { egress: createEgress(context), openToken: createTokenOpener(context) }
}
