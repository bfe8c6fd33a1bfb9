// The framework alone, answering what the gateway's route answers.

import Fastify from 'fastify'
import Type from 'typebox'
import { reportTo } from '../server-process.ts'

const app = Fastify({ logger: false })
const schema = {
  response: { 200: Type.Object({ algorithm: Type.String(), usage: Type.String(), verify_key_hex: Type.String() }) },
}
const answer = { verify_key_hex: 'ab'.repeat(32), algorithm: 'ed25519', usage: 'short_url_token_verification' }
app.get('/v1/short-url/verify-key', { schema }, async () => answer)
reportTo(process, await app.listen({ host: '127.0.0.1', port: 0 }))
