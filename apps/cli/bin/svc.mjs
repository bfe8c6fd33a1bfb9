#!/usr/bin/env node
import { launch } from '../../../scripts/launch.mjs'

await launch(new URL('../src/bin/svc.ts', import.meta.url))
