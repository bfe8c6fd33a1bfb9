// A gateway as operators run it, in production mode; standard output goes nowhere.
import { startTestGateway } from '@svc/testbed/test-gateway'
import { reportTo } from '../server-process.ts'

const key = (byte: string) => byte.repeat(32)
const gateway = await startTestGateway({
  SVC_MODE: 'production',
  BASE_URL: 'http://localhost',
  LOG_LEVEL: process.env.LOG_LEVEL,
  STATEMENT_KEY: key('01'),
  PUBLICATION_KEY: key('02'),
  SHORT_URL_KEY: key('03'),
  EVM_RPC_URLS: 'http://127.0.0.1:1',
  EVM_TREASURY: `0x${'ab'.repeat(20)}`,
})
reportTo(process, gateway.url)
