import { reportTo } from '../server-process.ts'
import { startProductionGateway } from './production-gateway.ts'

const gateway = await startProductionGateway()
reportTo(process, gateway.url, gateway.stop)
