#!/usr/bin/env node
import { launch } from '../../../scripts/launch.mjs'

await launch(new URL('../src/bin/svc-gateway.ts', import.meta.url))
