// The framework alone, with a compile cache like the gateway's. Plain JavaScript, so that TypeScript costs it nothing.

import { enableCompileCache } from 'node:module'

enableCompileCache()
const { default: Fastify } = await import('fastify')
const app = Fastify({ logger: false })
app.get('/health', async () => ({ status: 'ok' }))
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) })
process.once('SIGTERM', () => process.exit())
