package app

import "strings"

// A foreign type is one of the platform's binding types that this host does not
// serve: what it belongs to, in words. A type that is in no table is misspelt.
//
// Sources: extensions.json of Microsoft.Azure.Functions.ExtensionBundle for the types of
// Durable Functions, SignalR, RabbitMQ, Kafka, SQL and Web PubSub; for the others the
// reference of each extension, not read type by type.
var foreignTypes = map[string][]string{
	"Durable Functions":      {"orchestrationTrigger", "activityTrigger", "entityTrigger", "orchestrationClient", "durableClient"},
	"Azure SQL":              {"sqlTrigger", "sql"},
	"MySQL":                  {"mysqlTrigger", "mysql"},
	"Kafka":                  {"kafkaTrigger", "kafka"},
	"RabbitMQ":               {"rabbitMQTrigger", "rabbitMQ"},
	"SignalR Service":        {"signalRTrigger", "signalR", "signalRConnectionInfo", "signalRNegotiation", "signalREndpoints"},
	"Web PubSub":             {"webPubSubTrigger", "webPubSub", "webPubSubConnection", "webPubSubRequest", "webPubSubContext", "webPubSubForSocketIO", "socketIOTrigger", "socketIO", "socketIONegotiation"},
	"SendGrid":               {"sendGrid"},
	"Twilio":                 {"twilioSms"},
	"Table storage":          {"table"},
	"Azure Data Explorer":    {"kusto"},
	"Dapr":                   {"daprServiceInvocationTrigger", "daprTopicTrigger", "daprBindingTrigger", "daprState", "daprSecret", "daprPublish", "daprInvoke", "daprBinding"},
	"Redis":                  {"redisPubSubTrigger", "redisListTrigger", "redisStreamTrigger", "redis"},
	"Model Context Protocol": {"mcpToolTrigger", "mcpToolProperty", "mcpResourceTrigger", "mcpPromptTrigger"},
	"OpenAI":                 {"assistantSkillTrigger", "assistantCreate", "assistantPost", "assistantQuery", "textCompletion", "embeddings", "embeddingsStore", "semanticSearch"},
	"the host itself":        {"manualTrigger", "warmupTrigger"},
	"the first version of Azure Functions": {
		"documentDB", "mobileTable", "notificationHub", "bot", "apiHubFile", "apiHubFileTrigger", "apiHubTable", "httpWebhook",
	},
}

// foreign returns what a type of the platform that is not served belongs to.
func foreign(typ string) (of string, ok bool) {
	for of, types := range foreignTypes {
		for _, known := range types {
			if strings.EqualFold(known, typ) {
				return of, true
			}
		}
	}
	return "", false
}
