import { buyStorage as declaration } from '@svc/api/x402'
import { serve } from '@svc/http-service/serve'
import type { Service } from '@svc/http-service/service'
import type { Context } from '../context.ts'
import { buyStorage } from './buy.ts'

export function x402Routes(service: Service, context: Context): void {
  serve(service, declaration, ({ body, wire }) => buyStorage(context, body, wire))
}
