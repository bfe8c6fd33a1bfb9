import * as x402 from '@svc/api/x402'
import { serve } from '@svc/http-service/serve'
import type { Service } from '@svc/http-service/service'
import type { Auth } from '../../../auth/room.ts'
import { buyStorage } from './buy.ts'
import { listBought } from './list-bought.ts'
import type { X402Context } from './room.ts'

export function x402Routes(service: Service, { callers }: Auth, context: X402Context): void {
  serve(service, x402.buyStorage, ({ body, wire }) => buyStorage(context, body, wire))
  serve(service, x402.listBought, ({ query, wire }) => listBought(context, callers, query, wire))
}
