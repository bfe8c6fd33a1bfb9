// Fastify alone, with the same answer and headers as the gateway's route.

import Fastify from 'fastify'
import Type from 'typebox'
import { reportTo } from '../server-process.ts'

const app = Fastify({ logger: false })
const schema = {
  response: { 200: Type.Object({ algorithm: Type.String(), usage: Type.String(), verify_key_hex: Type.String() }) },
}
const answer = { verify_key_hex: 'ab'.repeat(32), algorithm: 'ed25519', usage: 'short_url_token_verification' }
const headers = { 'access-control-allow-origin': '*', 'cache-control': 'public, max-age=300', 'x-request-id': 'req_1' }
app.get('/v1/short-url/verify-key', { schema }, async (_request, reply) => {
  reply.headers(headers)
  return answer
})
reportTo(process, await app.listen({ host: '127.0.0.1', port: 0 }), () => app.close())
