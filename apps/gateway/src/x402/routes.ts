import { buyStorage as declaration } from '@svc/api/x402'
import { serve } from '@svc/http-service/serve'
import type { Service } from '@svc/http-service/service'
import { buyStorage } from './buy.ts'
import type { X402Context } from './room.ts'

export function x402Routes(service: Service, context: X402Context): void {
  serve(service, declaration, ({ body, wire }) => buyStorage(context, body, wire))
}
