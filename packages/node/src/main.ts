/**
 * Composition of a node: everything that it is made of is made and connected here, and nowhere else.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { bootstrapEffects, Engine, ErrorCode, QueryError } from '@althing/engine';
import { DamagedLogError, DamagedStateError, FolderInUseError, openFolder, StorageError } from '@althing/storage';
import { Authenticator } from './auth/authenticator.js';
import { Backoff } from './auth/backoff.js';
import { PasswordHasher } from './auth/password.js';
import { type Config, ExitCode, portInUse } from './config/index.js';
import { startConsensus } from './consensus/start.js';
import { systemEnvironment } from './environment.js';
import { HttpListener } from './http/listener.js';
import { openIdentity } from './identity.js';
import { createLogger, type Logger } from './logger.js';
import { Router } from './router.js';
import { Checkpointer } from './scopes/checkpointer.js';
import { Sessions } from './scopes/sessions.js';
import { Phase, SharedStatus } from './status/shared-status.js';
